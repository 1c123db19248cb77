"""slurm_test.py PROGRAM: two scenes in six shards each by Slurm; a job is killed and a node is lost while jobs run."""

import sys
from pathlib import Path

import runs
import slurm


def lose_a_job_and_a_node(cluster, program, process):
    """Cancels a job while it works, then ends a node on which another one works; returns the ids of both."""
    found = {}

    def working(node=None):
        runs.check(process.poll() is None, f"ended before its jobs could be killed\n{runs.messages()}")
        found["job"] = cluster.working_job(program, node)
        return found["job"]

    cluster.wait("a working job", working)
    killed = found["job"]
    cluster.query("scancel", "--signal=KILL", "--full", killed)
    cluster.wait("the job's end", lambda: cluster.job_state(killed) in ("FAILED", "CANCELLED", "COMPLETED"))
    cluster.wait("a working job on n2", lambda: working("n2"))
    cluster.lose("n2")
    return killed, found["job"]


def main(program):
    runs.need("snakemake", "munged", "slurmctld", "slurmd", "sbatch", "scontrol", "setpriv")
    with runs.work_folder() as folder, slurm.Cluster(folder / "slurm") as cluster:
        session, output = folder / "session", folder / "out"
        runs.make_session(session)
        with runs.snakemake(program, session, output, "slurm", 6, ["--latency-wait", "5"]) as process:
            killed, lost = lose_a_job_and_a_node(cluster, program, process)
            code = process.wait()
        said = runs.messages()
        runs.check(code == 0, f"exit code {code}\n{said}\n{cluster.logs()}")
        state = cluster.job_state(killed)
        runs.check(state in ("FAILED", "CANCELLED"), f"job {killed} was not killed: {state}")
        state = cluster.job_state(lost)
        runs.check(state == "NODE_FAIL", f"job {lost} was not lost: {state}")
        for job in (killed, lost):
            runs.check(f"external jobid '{job}'" in said, f"job {job} is not Snakemake's\n{said}")
        for job in (killed, lost, "4000000"):
            status = cluster.query(runs.ROOT / "tools/cluster/slurm/status", job).strip()
            runs.check(status == "failed", f"status of job {job}: {status}")
        runs.check(said.count("Trying to restart job") >= 2, f"not repeated\n{said}")
        runs.check(len(list(output.glob(".cluster/*.estimate-*-of-6.json"))) == 12, "not all shards are there")
        runs.check_results(program, session, output)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
