"""kernels_test.py BUILD: tools/kernels, in a repository of its own, knows the kernels of a build that a list lacks."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSED = "[ RUN      ] A.B\n[       OK ] A.B (1 ms)\n[  PASSED  ] 12 tests.\n"


def git(folder, *words):
    identity = {f"GIT_{who}_{what}": "test@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", "-C", folder, *words], check=True, stdout=subprocess.DEVNULL, env=os.environ | identity)


def kernels(folder, *words):
    done = subprocess.run([folder / "tools/kernels", *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(what, found, code, *texts):
    if found[0] != code or not all(text in found[1] for text in texts):
        sys.exit(f"{what}: exit code {found[0]} instead of {code}, or one of {texts} is missing in: {found[1][:2000]}")


def check(folder, build):
    log, known = folder / "log", folder / "tests/cuda/kernels.txt"
    expect("without a list", kernels(folder, build), 0, "have not run on a GPU since ever")
    for text in ("", PASSED + "[  FAILED  ] 1 test, listed below:\n", PASSED + "[  SKIPPED ] 2 tests, listed below:\n"):
        log.write_text(text)
        expect("a log of failures", kernels(folder, "--record", log, build), 1, "is not of a cuda_test that passed")
    log.write_text(PASSED)
    (folder / "cuda/a.cu").write_text("changed")
    expect("a changed tree", kernels(folder, "--record", log, build), 1, "commit them")
    git(folder, "checkout", "cuda")
    expect("record", kernels(folder, "--record", log, build), 0, "12 tests")
    expect("all are known", kernels(folder, "--strict", build), 0, "kernels: 0 of ")
    lines = known.read_text().splitlines()
    gone = next(line for line in lines if line.endswith(" points_kernel"))
    known.write_text("\n".join(line for line in lines if line != gone) + "\n")
    for option, code in (([], 0), (["--strict"], 1)):
        found = kernels(folder, *option, build)
        expect("one is new", found, code, "kernels: 1 of ")
        if not re.search(r"^  points_kernel: [1-9]\d* registers, 0 bytes shared, \d+ bytes of stack$", found[1], re.M):
            sys.exit(f"the new kernel is not described: {found[1]}")
    known.write_text("\n".join([lines[0], "nvcc 1.2.3", *lines[2:]]) + "\n")
    expect("another compiler", kernels(folder, "--strict", build), 1, "instead of 1.2.3")
    expect("no build", kernels(folder, folder), 1, "has no compiled CUDA files")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("tools", "tests/cuda", "cuda"):
            (folder / part).mkdir(parents=True)
        shutil.copy(ROOT / "tools/kernels", folder / "tools")
        (folder / "cuda/a.cu").write_text("")
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "kernels")
        check(folder, pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
