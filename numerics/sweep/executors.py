"""Where blocks are computed: in this process, in worker processes of this machine, or on a Dask cluster.

An executor takes jobs lazily and yields (job, result) as they finish, in any order, with few of them in flight. A
worker that dies does not end the sweep: its job is given to another, and if that dies too its settings are tried one by
one, so that the one to blame gets a sentence and the others their numbers.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator

from numerics.sweep.job import Job, Result, failed, join, perform, perform_elsewhere
from numerics.sweep.wire import receive, send

__all__ = ["Finished", "cores", "dask", "local", "open_executor", "serial"]

Finished = Iterator[tuple[Job, Result]]
#: Deaths of a worker over the same job before its settings are tried one by one.
_PATIENCE = 2
_DIED = "the worker process died while computing this setting (killed, out of memory, or crashed)"


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def open_executor(workers: int | None = None, scheduler: str | None = None) -> Callable[[Iterable[Job]], Finished]:
    """The executor asked for: ``scheduler`` is a Dask address; else ``workers`` processes (default: one a core)."""
    if scheduler is not None:
        return lambda jobs: dask(jobs, scheduler)
    workers = cores() if workers is None else workers
    return serial if workers == 1 else lambda jobs: local(jobs, workers)


def serial(jobs: Iterable[Job]) -> Finished:
    """One after the other, in this process."""
    for job in jobs:
        if job is not None:
            yield job, perform(job)


# --- worker processes of this machine -----------------------------------------------------------------------------

class _Worker:
    """One worker process; started when first needed, and again after it died."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.process = None
        self.dismissed = False

    def run(self, job: Job) -> Result | None:
        """The result, or None when the process died over it. Raises RuntimeError for what the worker refuses."""
        try:
            if self.process is None:
                self._start()
            if self.dismissed:
                raise EOFError
            send(self.process.stdin, job)
            good, answer = receive(self.process.stdout)
        except (EOFError, OSError):
            self._bury()
            if self.dismissed:
                raise RuntimeError("the sweep was stopped") from None
            return None
        if not good:
            raise RuntimeError(answer.partition("\n")[0])
        return answer

    def _start(self) -> None:
        here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        path = [here, *(os.path.abspath(p) for p in sys.path)]
        environment = dict(os.environ, PYTHONPATH=here + os.pathsep + os.environ.get("PYTHONPATH", ""))
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            environment.setdefault(name, str(self.threads))  # workers times threads: no more than there are cores
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "numerics.sweep.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment,
        )
        try:
            send(self.process.stdin, path)
            receive(self.process.stdout)
        except (EOFError, OSError):
            if not self.dismissed:
                raise RuntimeError("a worker process could not start: its own words are above") from None
            raise

    def dismiss(self) -> None:
        """End the process, whatever it does; its thread sees the pipe close (called from another thread)."""
        self.dismissed = True
        if (process := self.process) is not None:
            process.kill()

    def leave(self) -> None:
        """End the process from its own thread."""
        self.dismissed = True
        self._bury()

    def _bury(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.stdout.close()


def local(jobs: Iterable[Job], workers: int) -> Finished:
    """``workers`` processes of this machine, each served by a thread of this one."""
    todo: queue.Queue = queue.Queue(maxsize=2 * workers)
    done: queue.Queue = queue.Queue()
    threads = max(1, cores() // workers)
    staff = [_Worker(threads) for _ in range(workers)]

    def serve(worker: _Worker) -> None:
        while (job := todo.get()) is not None and not worker.dismissed:
            try:
                done.put((job, _insist(worker, job)))
            except BaseException as error:  # handed to the thread that reads `done`
                done.put((job, error))
                break
        worker.leave()

    team = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in staff]
    for thread in team:
        thread.start()
    try:
        yield from _window(jobs, todo.put, done.get, 2 * workers)
    except BaseException:  # also when the caller closes the generator
        for worker in staff:
            worker.dismiss()
        while not todo.empty():
            todo.get_nowait()
        raise
    finally:
        for _ in team:
            todo.put(None)
        for thread in team:
            thread.join()


def _insist(worker: _Worker, job: Job) -> Result:
    """The result of a job however often the worker dies over it."""
    for _ in range(_PATIENCE):
        if (result := worker.run(job)) is not None:
            return result
    if job.block.size == 1:
        return failed(job, _DIED)
    parts = [job._replace(block=job.block.single(flat)) for flat in range(job.block.size)]
    return join(job, [worker.run(part) or failed(part, _DIED) for part in parts])


def _window(jobs: Iterable[Job], submit: Callable, collect: Callable, most: int) -> Finished:
    """Keep at most ``most`` jobs in flight; yield what comes back, raise what failed beyond a setting's own fault."""
    flying = 0
    for job in jobs:
        if job is None:  # nothing to hand out just now
            if not flying:
                continue
        else:
            submit(job)
            flying += 1
            if flying < most:
                continue
        yield _accept(*collect())
        flying -= 1
    for _ in range(flying):
        yield _accept(*collect())


def _accept(job: Job, result: Result | BaseException) -> tuple[Job, Result]:
    if isinstance(result, BaseException):
        raise result
    return job, result


# --- a Dask cluster -----------------------------------------------------------------------------------------------

def dask(jobs: Iterable[Job], address: str) -> Finished:
    """The workers of the Dask scheduler at ``address``; a job whose worker dies is given to another by the scheduler.

    Raises
    ------
    ImportError, OSError
        Without ``distributed``, or when no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("--scheduler needs dask.distributed: pip install 'ptft-sym[distributed]'") from None
    _knock(address)
    with Client(address, timeout=15, set_as_default=False) as client:
        yield from _on_cluster(client, jobs)


def _knock(address: str) -> None:
    """Refuse an address where nobody listens: a Client that cannot connect takes long to go."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, ValueError, OverflowError) as error:
        raise OSError(f"no Dask scheduler answers at {address!r}: {error}") from None


def _on_cluster(client, jobs: Iterable[Job]) -> Finished:
    finished: queue.Queue = queue.Queue()
    by_key: dict[str, tuple[Job, object]] = {}

    def submit(job: Job) -> None:
        future = client.submit(perform_elsewhere, job, pure=False)
        by_key[future.key] = (job, future)
        future.add_done_callback(lambda f: finished.put(f.key))

    def collect() -> tuple[Job, Result]:
        job, future = by_key.pop(finished.get())
        return job, _outcome(client, job, future)

    most = max(4, 2 * sum(client.nthreads().values()))
    yield from _window(jobs, submit, collect, most)


def _outcome(client, job: Job, future) -> Result:
    """A future's result; after too many dead workers the block is tried setting by setting."""
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker:
        if job.block.size == 1:
            return failed(job, _DIED)
    parts = [job._replace(block=job.block.single(flat)) for flat in range(job.block.size)]
    return join(job, [_outcome(client, part, client.submit(perform_elsewhere, part, pure=False)) for part in parts])
