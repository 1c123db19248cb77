"""local_test.py PROGRAM: two scenes in shards on local cores; a killed job is repeated, a broken scene stops no other."""

import sys
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


def main(program):
    runs.need("snakemake")
    with runs.work_folder() as folder:
        session, output = folder / "session", folder / "out"
        runs.make_session(session)
        fragile = folder / "fragile"
        fragile.write_text(KILLED_ONCE.format(program=program, mark=folder / "killed"))
        fragile.chmod(0o755)

        local = ["--cores", "2"]
        code = runs.start(fragile, session, output, "local", 3, local).wait()
        runs.check(code == 0, f"exit code {code}\n{runs.messages()}")
        runs.check((folder / "killed").exists(), "no job was killed")
        runs.check("Trying to restart job" in runs.messages(), f"no job was repeated\n{runs.messages()}")
        runs.check_results(program, session, output)

        code = runs.start(program, session, output, "local", 3, local).wait()
        runs.check(code == 0 and "Nothing to be done" in runs.messages(), f"finished work again\n{runs.messages()}")

        (session / "broken/images").mkdir(parents=True)
        (output / "a/fused.ply").unlink()
        code = runs.start(program, session, output, "local", 2, [*local, "--forceall", "--retries", "0"]).wait()
        runs.check(code != 0, "a broken scene is no failure")
        runs.check("broken: this is no scene" in runs.messages(), f"no word of it\n{runs.messages()}")
        lines = (output / "session.jsonl").read_text().splitlines()
        runs.check(len(lines) == 3 and sum('"error"' in line for line in lines) == 1, f"session.jsonl: {lines}")
        runs.check_results(program, session, output)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
