"""The errors of `reconstruct`. Messages name the option, file or array, the value found, and what to do."""

__all__ = ["DeviceError", "DeviceUnavailable", "Error", "InputError", "Interrupted", "OutOfMemory", "OutputError",
           "UsageError"]


class Error(Exception):
    """Base of all errors; `exit_code` is the one that the program ends with."""

    exit_code: int = 1


class UsageError(Error, ValueError):
    """Wrong use of an option or an argument."""

    exit_code = 2


class InputError(Error, ValueError):
    """Bad input."""

    exit_code = 3


class OutputError(Error):
    """Results cannot be written."""


class OutOfMemory(Error, MemoryError):
    """Memory of the host or a GPU does not suffice."""

    exit_code = 4


class DeviceUnavailable(Error):
    """The device does not exist, or cannot be used by this build."""

    exit_code = 5


class DeviceError(Error):
    """A call of a GPU failed."""


class Interrupted(Error):
    """The work was stopped; what was finished is kept."""

    exit_code = 130
