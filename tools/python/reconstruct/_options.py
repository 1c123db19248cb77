"""Options and paths as the library takes them: texts."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Sequence, Union

import numpy as np

from .pair_options import PairOptions
from .scene_options import SceneOptions

PathLike = Union[str, os.PathLike[str]]
Option = Union[str, bool, int, float, os.PathLike[str], Sequence[Union[str, int, float]], None]
Options = Union[SceneOptions, PairOptions, None]


def path(given: Any, name: str) -> str:
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        if isinstance(text, str):
            return text
        given = text
    if isinstance(given, bytes):
        raise TypeError(f"{name} is of bytes: {given!r}; paths are str or os.PathLike: os.fsdecode(path)")
    raise TypeError(f"{name} is of type {type(given).__name__}; it must be a path: str or os.PathLike")


def paths(given: Any, name: str) -> List[str]:
    """Of one path, or of several."""
    if isinstance(given, (str, bytes, os.PathLike)):
        return [path(given, name)]
    if not isinstance(given, Sequence):
        raise TypeError(f"{name} is of type {type(given).__name__}; it must be a path, or a list of paths")
    return [path(it, f"{name}[{i}]") for i, it in enumerate(given)]


def _text(value: Any, name: str) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (str, int, np.integer)):
        return str(value)
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return ",".join(_text(part, name) for part in value)
    if isinstance(value, (bytes, os.PathLike)):
        return path(value, name)
    raise TypeError(f"{name} is of type {type(value).__name__}; options are texts, numbers, booleans, paths, and lists of these")


def texts(options: Options, keywords: Mapping[str, Any]) -> Dict[str, str]:
    """Options as the command line has them; those that are None are not given, and keywords come first."""
    if options is not None and not isinstance(options, (SceneOptions, PairOptions)):
        raise TypeError(f"options is of type {type(options).__name__}; it must be SceneOptions or PairOptions; those of a dictionary "
                        "are given by **dictionary")
    given = {} if options is None else dict(vars(options))
    given.update((name, value) for name, value in keywords.items() if value is not None)
    return {name.replace("_", "-"): _text(value, name) for name, value in given.items() if value is not None}
