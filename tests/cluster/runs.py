"""Runs of tools/cluster/Snakefile beside plain runs of the same scenes."""

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
OPTIONS = ["--max-image-size", "160"]
TIME_LIMIT = 540  # seconds, below that of CTest, which would not stop the daemons in order


def need(*programs):
    """Ends the test as skipped where a program is absent."""
    missing = [program for program in programs if not find(program)]
    if missing:
        print("skipped: not installed: " + ", ".join(missing))
        sys.exit(SKIPPED)


def find(program):
    """The path of a program, also of those that only root has in PATH."""
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/local/sbin:/usr/sbin:/sbin")


def check(condition, message):
    if not condition:
        raise AssertionError(message)


@contextlib.contextmanager
def work_folder():
    """A temporary folder as the current one; signals and the time limit end the test by an exception, so that what it
    started is stopped."""

    def stop(number, frame):
        raise SystemExit(f"stopped by {signal.Signals(number).name}")

    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    signal.alarm(TIME_LIMIT)
    folder = Path(tempfile.mkdtemp(prefix="reconstruct-cluster-"))
    folder.chmod(0o755)  # munge insists that clients can reach its socket
    before = Path.cwd()
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ["CI"] = "true"  # Snakemake asks for the states of jobs each second
    try:
        yield folder
    finally:
        signal.alarm(0)
        os.chdir(before)
        shutil.rmtree(folder)


def make_session(folder):
    """Two scenes of nine views with different results; the name of one needs quoting."""
    demo = ROOT / "scenes/demo"
    for name in ("a", "b, c"):
        for part in ("images", "sparse"):
            shutil.copytree(demo / part, folder / name / part)
    shutil.copy(demo / "images/view00.jpg", folder / "b, c/images/view08.jpg")


@contextlib.contextmanager
def snakemake(program, session, output, profile, shards, more=()):
    """A running Snakemake; its messages go to snakemake.log in the current folder. It is killed at the end of the context,
    with the jobs that it has started itself, and when this process ends."""
    tools = ROOT / "tools/cluster"
    config = {"scenes": session, "output": output, "shards": shards, "threads": 1, "memory": 2, "program": program}
    command = [find("setpriv"), "--pdeathsig", "KILL", find("snakemake"), "-s", tools / "Snakefile", "--profile", tools / profile]
    command += [*more, "--config", *(f"{key}={value}" for key, value in config.items()), "options=" + " ".join(OPTIONS)]
    with open("snakemake.log", "w") as log:
        process = subprocess.Popen(
            [*map(str, command)], stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def messages():
    return Path("snakemake.log").read_text()


def result_hashes(output):
    """SHA-256 of the results; reports, records and options hold times, names of folders and of shards."""
    files = (path for path in sorted(output.rglob("*")) if path.is_file())
    return {
        str(name): hashlib.sha256((output / name).read_bytes()).hexdigest()
        for name in (path.relative_to(output) for path in files)
        if name.parts[0] not in ("status", "options.toml") and not name.name.startswith("report")
    }


def check_results(program, session, output):
    """The results of every scene have the bytes of a plain run."""
    different = {}
    for scene in sorted(session.iterdir()):
        if not (scene / "sparse").exists():
            continue
        plain = Path("plain") / scene.name
        subprocess.run([program, scene, "-o", plain, *OPTIONS, "--device", "cpu", "--quiet"], check=True)
        expected, found = result_hashes(plain), result_hashes(output / scene.name)
        check(len(expected) > 9 * 7 and "fused.ply" in expected, f"a plain run has only {sorted(expected)}")
        names = [name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)]
        check(not names, f"{scene.name}: other bytes than of a plain run: {sorted(names)}")
        different[expected["fused.ply"]] = scene
    check(len(different) == 2, "the scenes have the same results: a mix-up would not be seen")
