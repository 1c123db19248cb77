"""The library, and what its calls compute on."""

from __future__ import annotations

import functools
import operator
from typing import Optional, Union

from .errors import UsageError

_why_none = ""
try:
    from . import _native
except ImportError as _error:  # the readers of reconstruct.io need NumPy alone
    _why_none = str(_error)


def check_library() -> None:
    if _why_none:
        raise ImportError(f"the library cannot be loaded ({_why_none}): build with -DRECON_PYTHON=ON, or install the library "
                          "and then `pip install tools/python`; reconstruct.io works without")


def version() -> str:
    """The version of the library, such as "0.1.0"."""
    check_library()
    return _native.version()


def installed_version() -> str:
    """That of the library, or where there is none, of the installed package."""
    if not _why_none:
        return _native.version()
    from importlib import metadata
    try:
        return metadata.version("reconstruct")
    except metadata.PackageNotFoundError:  # the readers of a source tree
        return "0+unknown"


class Device:
    """The CPU, or GPUs that are open: what calls compute on.

    Calls that are given a name open the device once and keep it; make one yourself to set its memory.

    device: "auto" (every usable GPU, else the CPU), "cpu", "cuda", or GPUs such as "cuda:0,2"
    threads: the most; 0: as many as there are processors
    memory_limit, gpu_memory_limit: the most bytes of host memory and of each GPU; None: what is there

    Raises UsageError, DeviceUnavailable. Several threads may use one device.
    """

    def __init__(self, device: str = "auto", threads: int = 0, memory_limit: Optional[int] = None,
                 gpu_memory_limit: Optional[int] = None) -> None:
        check_library()
        if not isinstance(device, str):
            raise TypeError(f"device is of type {type(device).__name__}; it must be a text such as \"cpu\"")
        limits = (None if it is None else operator.index(it) for it in (memory_limit, gpu_memory_limit))
        self._opened = _native.Device(device, operator.index(threads), *limits)

    @property
    def name(self) -> str:
        """For people, such as "CPU, 2 threads, AVX3" (AVX-512)."""
        return self._opened.name

    def __repr__(self) -> str:
        return f"<reconstruct.Device {self.name}>"


@functools.lru_cache(maxsize=4)
def _opened(device: str, threads: int) -> Device:
    return Device(device, threads)


def native_device(device: Union[str, Device], threads: int) -> "_native.Device":
    if isinstance(device, Device):
        if threads:
            raise UsageError("threads are those of the device, which is given")
        return device._opened
    if not isinstance(device, str):
        raise TypeError(f"device is of type {type(device).__name__}; it must be a Device, or a text such as \"cpu\"")
    return _opened(device, threads)._opened
