"""Starts the programs that a wheel brings; `wheel` adds this file to the package, and a command for each program."""

import os
import pathlib
import sys


def _start(name: str) -> None:
    program = str(pathlib.Path(__file__).resolve().parent / "native" / name)
    sys.stdout.flush()
    try:
        os.execv(program, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: {program} cannot be started: {error.strerror}; install the wheel again, on a file system from which programs may run")


def reconstruct() -> None:
    _start("reconstruct")


def reconstruct_evaluate() -> None:
    _start("reconstruct-evaluate")
