"""What the tests sweep over: functions as a person would write them, of keyword arguments, returning a dict."""

import os
import signal
import time


def product(x, y, log="", delay=0.0):
    """Two numbers; leaves a line in the log for every call."""
    time.sleep(delay)
    if log:
        handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{x} {y}\n".encode())
        os.close(handle)
    return {"value": x * y + 1.0 / 3.0, "total": float(x + y)}


def moody(x, limit):
    """Raises in four different ways."""
    if x == limit:
        raise ValueError(f"x = {x} is the limit")
    if x == limit + 1:
        return {"other": 1.0}
    if x == limit + 2:
        return {"value": "a word"}
    if x == limit + 3:
        raise KeyError("x")
    print("noise on stdout")
    return {"value": 2 * x}


def deadly(x, y):
    """Kills its own process at one setting."""
    if (x, y) == (2, 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": 10 * x + y}


def deadly_once(x, y, mark):
    """Kills the first process that meets (2, 1), and leaves a mark not to do it again."""
    if (x, y) == (2, 1) and not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": 10 * x + y}
