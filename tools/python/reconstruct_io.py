"""The former name of `reconstruct.io`."""

from reconstruct.io import *  # noqa: F401,F403
from reconstruct.io import __all__  # noqa: F401
