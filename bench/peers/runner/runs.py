"""Runs one row on one peer: starts the server, waits until it listens, runs the clients and returns the metrics.

Every process ends with the run, also if the runner is killed (PR_SET_PDEATHSIG). An error raises Failure with its
reason.
"""
import contextlib
import ctypes
import json
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

START_LIMIT = 20.0  # s; for a server to listen and for a client to connect
RUN_LIMIT = 60.0  # s; in addition to the time of the load itself


class Failure(Exception):
    """Raised for a run without a result, with the reason."""


class Setting:
    """The folder of the programs, and the cores that they may use."""

    def __init__(self, programs, cores):
        self.programs = programs
        self.cores = cores

    def core_of(self, placement, end):
        """Returns the cores of the client's or server's process; None: all."""
        if placement == "free" or len(self.cores) < 2 and placement == "two":
            return None
        return {self.cores[1] if placement == "two" and end == "server" else self.cores[0]}

    def can_place(self, placement):
        return placement != "two" or len(self.cores) >= 2


# ---- Processes


class Process:
    """A program of a peer, with its lines of output and the end of its standard error."""

    def __init__(self, command, folder, cores=None, environment=None):
        self.errors = tempfile.TemporaryFile(dir=folder)
        self.name = os.path.basename(command[0])
        self.rest = b""
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                            preexec_fn=lambda: prepare_child(cores), env=environment or clean_environment())
        except OSError as error:
            raise Failure(f"{self.name} does not start: {error.strerror}") from error

    @property
    def pid(self):
        return self.process.pid

    def read_line(self, limit):
        """Returns the next line. Raises Failure if none comes in time or the program ends."""
        end = time.monotonic() + limit
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Failure(f"{self.name} said nothing within {limit:.0f} s")
            block = os.read(self.process.stdout.fileno(), 65536)
            if not block:
                raise Failure(f"{self.name} ended {self.status()}")
            self.rest += block
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode(errors="replace")

    def ready(self):
        """Waits for `READY words` and returns the words."""
        line = self.read_line(START_LIMIT)
        if not line.startswith("READY"):
            raise Failure(fault_in(line) or f"{self.name} said '{line[:200]}' instead of READY")
        return line[len("READY"):].strip()

    def record(self, limit):
        """Waits for the record of a client's load and returns it. Raises the fault that it contains."""
        line = self.read_line(limit)
        fault = fault_in(line)
        if fault:
            raise Failure(fault)
        try:
            return json.loads(line)
        except ValueError:
            raise Failure(f"{self.name} said '{line[:200]}' instead of its result") from None

    def go_on(self):
        """Sends the line that a client with --gate waits for."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()

    def status(self):
        try:
            code = self.process.wait(2)
        except subprocess.TimeoutExpired:
            code = None
        self.errors.seek(0)
        text = " ".join(self.errors.read().decode(errors="replace").split())
        return f"with {code}" + (f": {text[-300:]}" if text else "")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def prepare_child(cores):
    """Runs in the child before its program. Makes it end with the runner, and binds it to these cores."""
    LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if cores:
        os.sched_setaffinity(0, cores)


def clean_environment():
    """Returns the environment without Corelane's settings."""
    return {key: value for key, value in os.environ.items() if not key.startswith("CORELANE_")}


def fault_in(line):
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record.get("error") if isinstance(record, dict) else None


class Run:
    """One run: a folder of its own and the processes that it started."""

    def __init__(self, setting, row, peer):
        self.setting, self.row, self.peer = setting, row, peer
        self.folder = tempfile.mkdtemp(prefix="corelane-peers-")
        self.shm = f"/dev/shm/{os.path.basename(self.folder)}"
        self.ready = ""
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.shm)

    def start(self, words, end):
        names = {"dir": self.folder, "run": os.path.basename(self.folder), "shm": self.shm, "ready": self.ready}
        words = [re.sub(r"\{(dir|run|shm|ready)\}", lambda match: names[match[1]], word) for word in words]
        program = shutil.which(words[0]) if end == "beside" else self.path_of(words[0])
        if not program or not os.path.exists(program):
            raise Failure(f"{words[0]} is not there")
        cores = None if end == "beside" else self.setting.core_of(self.row.cores, end)
        process = Process([program] + words[1:], self.folder, cores)
        self.processes.append(process)
        return process

    def path_of(self, program):
        """Returns the path of the program. Corelane's programs may be of another build."""
        is_older = self.peer.older and program.startswith("corelane-peer-corelane-")
        return os.path.join(self.peer.older if is_older else self.setting.programs, program)

    def start_server(self):
        server = self.start(self.peer.server, "server")
        self.ready = server.ready()
        return server

    def client(self, load, server=None):
        words = list(self.peer.client)
        if self.peer.address:
            words += ["--address", self.peer.address]
        if server:
            words += ["--server-pid", str(server.pid)]
        return self.start(words + list(load), "client")

    def hold(self, count):
        """Opens idle connections that clients hold until the run ends. Uses several clients, since a process has a
        limit of descriptors."""
        if self.peer.crowd:
            words = list(self.peer.crowd)
        else:
            words = list(self.peer.client) + ["--address", self.peer.address]
        while count > 0:
            part = min(count, self.row.held_by)
            self.hold_part(words, part)
            count -= part

    def hold_part(self, words, count):
        crowd = self.start(words + ["--load", "hold", "--threads", str(count)], "client")
        line = crowd.read_line(START_LIMIT + count * 0.01)
        if not line.startswith("READY"):
            raise Failure(f"{count} idle connections: {fault_in(line) or line[:200]}")


# ---- Rows: each returns metrics


def limit_of(load):
    """Returns how long the load may take: its duration, or its calls at their rate, plus RUN_LIMIT."""
    words = dict(zip(load[::2], load[1::2]))
    seconds = int(words.get("--duration-ms", 0)) / 1000 + int(words.get("--idle-ms", 0)) / 1000
    rate = int(words.get("--rate", 0))
    calls = int(words.get("--calls", 0))
    return RUN_LIMIT + seconds + (calls / rate * 1.5 if rate else calls * 0.002)


def with_derived(record):
    """Adds derived values: CPU seconds per 100,000 calls, and idle CPU in ms per second."""
    calls = record.get("calls", 0)
    if calls and "client_cpu_ns" in record:
        cpu = record["client_cpu_ns"] + record.get("server_cpu_ns", 0)
        record["cpu_s"] = cpu / 1e9 / calls * 1e5
    if record.get("idle_ns"):
        record["idle_cpu_ms"] = record["idle_cpu_ns"] / 1e6 / (record["idle_ns"] / 1e9)
    return record


def pair(run, load, _count):
    server = run.start_server()
    if run.row.beside:
        run.start(run.row.beside, "beside")
    return run.client(load, server).record(limit_of(load))


def processes(run, load, count):
    """Runs client processes that connect one after the other and begin together. Adds up their calls."""
    server = run.start_server()
    clients = []
    for _ in range(count):
        clients.append(run.client(tuple(load) + ("--gate", "1"), server))
        clients[-1].ready()
    for client in clients:
        client.go_on()
    records = [client.record(limit_of(load)) for client in clients]
    return {"calls": sum(record["calls"] for record in records), "rate": sum(record["rate"] for record in records),
            "client_cpu_ns": sum(record["client_cpu_ns"] for record in records),
            "server_cpu_ns": statistics.median(record["server_cpu_ns"] for record in records)}


def crowd(run, load, count):
    server = run.start_server()
    if run.peer.crowd:
        run.hold(count)
    else:
        load = tuple(load) + ("--extra-connections", str(count))
    return run.client(load, server).record(limit_of(load))


def idle(run, load, count):
    """Measures the memory of idle connections, and the time of a call while they exist."""
    server = run.start_server()
    before = run.client(load, server).record(limit_of(load))
    rss, kernel = rss_of(server.pid), kernel_memory()
    run.hold(count)
    rss_after, kernel_after = rss_of(server.pid), kernel_memory()
    after = run.client(load, server).record(limit_of(load))
    after.update(connections=count, rss_kib=(rss_after - rss) / count, kernel_kib=(kernel_after - kernel) / count,
                 p50_before_ns=before["p50_ns"])
    return after


def alone(run, load, _count):
    record = run.client(load).record(limit_of(load))
    return {key.replace("_ns", "_call_ns"): value for key, value in record.items()}


def first(run, load, count):
    run.start_server()
    times = []
    for _ in range(count):
        started = ("--started", str(time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
        times.append(run.client(tuple(load) + started).record(limit_of(load))["first_ns"])
    return {"first_ns": statistics.median(times)}


def size(run, _load, _count):
    record = {}
    for end, words in (("server", run.peer.server), ("client", run.peer.client)):
        program = run.path_of(words[0])
        stripped = os.path.join(run.folder, end)
        answer = subprocess.run(["strip", "-o", stripped, program], capture_output=True, check=False)
        if answer.returncode != 0:
            raise Failure(f"strip: {answer.stderr.decode(errors='replace').strip()}")
        own = os.path.getsize(stripped)
        record[f"{end}_kib"] = own / 1024
        record[f"{end}_all_kib"] = (own + sum(os.path.getsize(path) for path in libraries_of(program))) / 1024
    return record


# ---- What the kernel tells


def libraries_of(program):
    """Returns the shared libraries that a program loads, without those of C and C++."""
    answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    paths = re.findall(r"=> (/\S+)", answer)
    return [path for path in paths if not re.match(r"lib(c|m|stdc\+\+|gcc_s|pthread|dl|rt)\.so", os.path.basename(path))]


def rss_of(pid):
    """Returns the resident memory of the process, in KiB."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return int(re.search(r"^VmRSS:\s+(\d+)", file.read(), re.M)[1])


def kernel_memory():
    """Returns the slabs, thread stacks and page tables of the whole machine, in KiB."""
    with open("/proc/meminfo", encoding="ascii") as file:
        text = file.read()
    return sum(int(re.search(rf"^{key}:\s+(\d+)", text, re.M)[1]) for key in ("Slab", "KernelStack", "PageTables"))


HOW = {function.__name__: function for function in (pair, processes, crowd, idle, alone, first, size)}


def run_once(setting, row, peer, quick, more=()):
    """Returns the metrics of one run. `more` are arguments that override those of the load."""
    if not setting.can_place(row.cores):
        raise Failure("it needs two cores")
    load = overridden(row.load_of(quick), more)
    with Run(setting, row, peer) as run:
        return with_derived(HOW[row.how](run, load, row.count_of(quick)))


def overridden(load, more):
    words = dict(zip(load[::2], load[1::2]))
    words.update(zip(more[::2], more[1::2]))
    return tuple(word for pair_of_words in words.items() for word in pair_of_words)
