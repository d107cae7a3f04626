"""A worker process of this machine: reads pickled jobs from stdin, writes pickled results to stdout.

    python -m numerics.sweep.worker

It is a program of its own rather than a `multiprocessing` child: the caller's script is not run again (no
``if __name__ == "__main__"`` needed), the death of one worker touches no other, and when the coordinator is killed the
end of the pipe ends the worker.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback

from numerics.sweep.wire import receive, send


def main() -> None:
    """Serve until the coordinator closes the pipe."""
    jobs, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the coordinator's to handle
    os.dup2(2, 1)  # what a function prints must not land among the results
    try:
        sys.path[:] = receive(jobs)
        from numerics.sweep.job import perform_elsewhere

        send(results, "ready")
        while True:
            job = receive(jobs)
            try:
                answer = (True, perform_elsewhere(job))
            except Exception as error:
                answer = (False, f"{error}\n{traceback.format_exc()}")
            send(results, answer)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        os._exit(0)  # nobody listens: no clean-up output


if __name__ == "__main__":
    main()
