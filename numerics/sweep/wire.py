"""Pickled values over a pipe, each with its length in front."""

from __future__ import annotations

import pickle
import struct
from typing import BinaryIO

__all__ = ["receive", "send"]

_LENGTH = struct.Struct("<Q")


def send(stream: BinaryIO, value: object) -> None:
    """Write one pickled value with its length in front."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> object:
    """Read one value. Raises EOFError when the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError("the other side has gone")
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError("the other side has gone in mid-sentence")
    return pickle.loads(data)
