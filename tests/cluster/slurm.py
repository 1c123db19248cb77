"""A Slurm of its own on this machine, by the current user: munged, slurmctld and a slurmd for each node."""

import os
import pwd
import signal
import socket
import subprocess
import time
from pathlib import Path

from runs import check, find

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=5
KillWait=2
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
"""
NODE = "NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=8000\n"


def free_ports(count):
    """Ports of loopback that nobody listens at now."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def environment_of(process):
    """The environment of a process; empty where it has ended or is another user's."""
    try:
        entries = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return dict(entry.decode(errors="replace").partition("=")[::2] for entry in entries)


def parent_of(process):
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def command_of(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Cluster:
    """Two nodes, n1 and n2, as a context: the daemons are stopped at its end, and with this process."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = {}
        folder.mkdir()
        self.configuration = folder / "slurm.conf"

    def __enter__(self):
        controller_port, *ports = free_ports(3)
        for name in ("state", "spool-n1", "spool-n2"):
            (self.folder / name).mkdir()
        user = pwd.getpwuid(os.getuid()).pw_name
        host = socket.gethostname().split(".")[0]
        text = "".join(NODE.format(name=f"n{i + 1}", port=port) for i, port in enumerate(ports))
        text += CONFIGURATION.format(host=host, user=user, folder=self.folder, controller_port=controller_port)
        self.configuration.write_text(text)
        os.environ["SLURM_CONF"] = str(self.configuration)
        try:
            self.start_munged()
            self.start("slurmctld", "-D", "-c")
            for name in ("n1", "n2"):
                self.start("slurmd", "-D", "-N", name, name=name)
            self.wait("the nodes", lambda: self.query("sinfo", "-h", "-N", "-o", "%T").split() == ["idle", "idle"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in self.daemons.values():
            daemon.kill()
            daemon.wait()
        self.kill_jobs()

    def start_munged(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        files = {"key-file": key, "pid-file": "munged.pid", "log-file": "munged.log", "seed-file": "munged.seed"}
        options = [f"--{option}={self.folder / file}" for option, file in {**files, "socket": "munge.socket"}.items()]
        self.start("munged", "--foreground", "--num-threads=10", *options)
        self.wait("munged", (self.folder / "munge.socket").exists)

    def start(self, program, *arguments, name=None):
        """Starts a daemon that is killed when this process ends in whatever way."""
        command = [find("setpriv"), "--pdeathsig", "KILL", find(program), *arguments]
        with open(self.folder / f"{name or program}.out", "w") as out:
            self.daemons[name or program] = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)

    def wait(self, what, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            check(time.monotonic() < end, f"{what}: nothing within {seconds} s\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        files = [*sorted(self.folder.glob("*.log")), *sorted(self.folder.glob("*.out"))]
        return "\n".join(f"== {file.name}\n" + "\n".join(file.read_text().splitlines()[-20:]) for file in files)

    def query(self, *command):
        """The output of a command of Slurm; empty where it fails."""
        command = [find(command[0]), *command[1:]]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def processes(self, **variables):
        """Processes of this cluster's jobs whose environment has these values."""
        wanted = {"SLURM_CONF": str(self.configuration), **variables}
        others = [int(path.name) for path in Path("/proc").glob("[0-9]*") if int(path.name) != os.getpid()]
        found = []
        for process in others:
            environment = environment_of(process)
            if "SLURM_JOB_ID" in environment and all(environment.get(key) == value for key, value in wanted.items()):
                found.append(process)
        return found

    def working_job(self, program, node=None):
        """The id of a job in which `program` estimates depth maps, on one node or on any; None where there is none."""
        for process in self.processes(**({"SLURMD_NODENAME": node} if node else {})):
            command = command_of(process)
            if command.startswith(f"{program} ") and "--stage estimate" in command:
                return environment_of(process)["SLURM_JOB_ID"]
        return None

    def job_state(self, job):
        fields = self.query("scontrol", "show", "job", "--oneliner", job).split()
        return next((field.partition("=")[2] for field in fields if field.startswith("JobState=")), "")

    def lose(self, node):
        """Ends everything on a node at once, as a power failure does."""
        daemon = self.daemons.pop(node)
        daemon.kill()
        daemon.wait()
        self.kill_jobs(SLURMD_NODENAME=node)

    def kill_jobs(self, **variables):
        """Kills the processes of jobs, first the slurmstepd of each, which would tell the controller."""
        jobs = self.processes(**variables)
        parents = {parent_of(process) for process in jobs}
        for process in [parent for parent in parents if command_of(parent).startswith("slurmstepd:")] + jobs:
            kill(process)
