"""config_test.py PROGRAM: values of --config that cannot be meant end with a sentence that names them, and quotes of both
kinds reach the jobs of a cluster."""

import subprocess
import sys
from pathlib import Path

import runs

REFUSED = {
    "options=--views 'a": "No closing quotation",
    "options={a: 1}": "a text is wanted",
    "options=[a]": "a text is wanted",
    "scenes={x}": "a text is wanted",
    "scenes=[a, {b: 1}]": "a path or a list of paths is wanted",
    "output=o{ut}": "takes braces in the paths",
    "output=": "--config output=...: is missing",
    "shards=-1": "--config shards=-1: a whole number of at least 1 is wanted",
    "shards=x": "a whole number of at least 1 is wanted",
    "threads=0": "a whole number of at least 1 is wanted",
    "gpus=-1": "a whole number of at least 0 is wanted",
    "memory=2.5": "a whole number of at least 1 is wanted",
    "shard=2": "there is no such key",
}
TAKEN = ["options=-5", "options=--roi '-1,-1,-1,1,1,1'", "options=--views {a}", 'scenes="{x}"', "scenes=5", "scenes=[a, 5]"]


def snakemake(*arguments):
    command = [runs.find("snakemake"), "-s", runs.ROOT / "tools/cluster/Snakefile", *arguments]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def with_value(value):
    key = value.split("=")[0]
    return ["--config", *(f"{name}={name}" for name in ("scenes", "output") if name != key), value]


def main(program):
    runs.need("snakemake")
    with runs.work_folder() as folder:
        for value, reason in REFUSED.items():
            code, said = snakemake("--cores", "1", "-n", "-q", *with_value(value))
            runs.check(code == 1 and reason in said, f"{value}: {code}\n{said}")
            runs.check(said.startswith("--config ") and said.count("\n") == 1, f"{value}: more than a sentence\n{said}")
        for value in TAKEN:
            code, said = snakemake("--cores", "1", "-n", "-q", *with_value(value))
            runs.check(code == 0, f"{value}: {code}\n{said}")

        runs.make_session(folder / "session")
        submit = folder / "submit"
        submit.write_text('#!/bin/bash\nbash "$@" > job.log 2>&1\necho 1\n')
        submit.chmod(0o755)
        code, said = snakemake("-j", "1", "--cluster", submit, "--latency-wait", "5", "--until", "plan", "--config",
                               "scenes=session", "output=it's out", f"program={program}", "threads=1", "memory=2",
                               "options=--quality \"draft\" --views 'view0[0-2]*' --max-image-size 100")
        log = folder / "job.log"
        runs.check(code == 0, f"quotes: {code}\n{said}\n{log.read_text() if log.exists() else 'no job'}")
        plan = (folder / "it's out/.cluster/plan.json").read_text()
        runs.check('"active_views": 3' in plan or '"active_views":3' in plan, "the options did not reach the job")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
