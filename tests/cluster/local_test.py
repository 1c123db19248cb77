"""local_test.py PROGRAM: two scenes in shards on local cores. Snakemake is killed and run again, a killed job is
repeated, and a broken scene stops no other."""

import sys
import time
from pathlib import Path

import runs

KILLED_ONCE = """#!/bin/bash
# Kills itself at the first call for the second shard, in the middle of its work.
if [[ "$*" == *"--shard 2/"* ]] && mkdir {mark} 2>/dev/null; then
  {program} "$@" &
  sleep 0.3
  kill -KILL $! $$
fi
exec {program} "$@"
"""


def interrupt(running, output):
    """Kills Snakemake and its jobs when some of them have ended."""
    with running as process:
        while not any(output.glob(".cluster/*.estimate-*.json")):
            runs.check(process.poll() is None, f"ended before it could be killed\n{runs.messages()}")
            time.sleep(0.05)


def main(program):
    runs.need("snakemake", "setpriv")
    with runs.work_folder() as folder:
        session, output = folder / "session", folder / "out"
        runs.make_session(session)
        fragile = folder / "fragile"
        fragile.write_text(KILLED_ONCE.format(program=program, mark=folder / "killed"))
        fragile.chmod(0o755)

        def local(program, shards, *more):
            return runs.snakemake(program, session, output, "local", shards, ["--cores", "2", *more])

        def run(*arguments):
            with local(*arguments) as process:
                return process.wait(), runs.messages()

        interrupt(local(program, 3), output)
        code, said = run(fragile, 3)
        runs.check(code == 0, f"exit code {code}\n{said}")
        runs.check((folder / "killed").exists() and "Trying to restart job" in said, f"no job was repeated\n{said}")
        runs.check_results(program, session, output)

        code, said = run(fragile, 3)
        runs.check(code == 0 and "Nothing to be done" in said, f"finished work again\n{said}")

        (session / "broken/images").mkdir(parents=True)
        (output / "a/fused.ply").unlink()
        code, said = run(program, 2, "--forceall", "--retries", "0")
        runs.check(code != 0 and "broken: this is not a scene" in said, f"a broken scene is not reported: {code}\n{said}")
        lines = (output / "session.jsonl").read_text().splitlines()
        runs.check(len(lines) == 3 and sum('"error"' in line for line in lines) == 1, f"session.jsonl: {lines}")
        runs.check_results(program, session, output)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
