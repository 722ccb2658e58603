"""The rows: which load they apply to the peers, and how a row is shown.

A row runs the same load on each of its peers. `how` names the function of runs.py that does it.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    title: str
    peers: tuple
    how: str = "pair"          # pair, processes, crowd, idle, alone, first or size
    cores: str = "free"  # one: client and server on one core; two: each on its own core; free: on any core
    load: tuple = ()           # arguments of the client
    quick: tuple = ()  # the same for --quick; empty: `load`
    count: int = 0  # of processes, connections or starts
    quick_count: int = 0
    held_by: int = 2500  # idle connections that one process holds
    metric: str = "p50_ns"  # the metric that is plotted, and that ratios use
    reference: str = ""  # the peer that ratios refer to
    columns: tuple = ()        # metrics in the table
    beside: tuple = ()  # a program that runs beside it, from the Debian package of the same name
    note: str = ""

    def load_of(self, quick):
        return self.quick if quick and self.quick else self.load

    def count_of(self, quick):
        return self.quick_count if quick and self.quick_count else self.count


LATENCY = ("p50_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns", "cpu_s")
RATE = ("rate", "cpu_s")
ONEWAY = ("rate", "sent", "lost", "failed", "cpu_s")

BARE = ("bare-tcp", "bare-unix")
CORELANE = ("corelane-tcp", "corelane-unix", "corelane-channel")
OMNIORB = ("omniorb-tcp", "omniorb-unix")
OTHERS = ("ace-tp", "ice", "grpc", "grpc-unix", "capnp", "capnp-unix", "zeromq", "zeromq-ipc")
OTHERS_OWN = ("ace-tp", "ice", "ice-own", "grpc", "grpc-own", "capnp", "capnp-unix", "zeromq", "zeromq-ipc")
OMNIORB_ALL = ("omniorb-tcp-1", "omniorb-tcp", "omniorb-tcp-16", "omniorb-unix-1", "omniorb-unix", "omniorb-unix-16")


def _calls(count, warm_up, *more):
    return ("--load", "calls", "--calls", str(count), "--warm-up", str(warm_up)) + more


def _throughput(threads, milliseconds):
    return ("--load", "throughput", "--threads", str(threads), "--duration-ms", str(milliseconds))


def _two_way(cores, title, peers, reference, note):
    return Row(f"two-way-{cores}", title, peers, cores=cores, load=_calls(20000, 2000), quick=_calls(500, 100),
               reference=reference, columns=LATENCY, note=note)


def _threads(count):
    return Row(f"throughput-{count}", f"throughput, {count} client thread{'s' * (count > 1)}, one client process",
               BARE + CORELANE + OMNIORB_ALL + OTHERS_OWN, load=_throughput(count, 1500), quick=_throughput(count, 200),
               metric="rate", reference="omniorb-tcp-16", columns=RATE,
               note="ping in a closed loop by each thread. A bare client has a connection for each thread.")


def _bulk(operation, size_name, size, says):
    count = 2000 if size < 100000 else 300
    load = ("--operation", operation, "--size", str(size))
    return Row(f"{operation}-{size_name}", f"{says} {size_name.replace('k', ' KiB').replace('m', ' MiB')}",
               BARE + CORELANE + ("corelane-channel-client-spin", "corelane-channel-spin") + OMNIORB + OTHERS,
               cores="two", load=_calls(count, count // 10 + 20, *load), quick=_calls(20, 5, *load), reference="bare-tcp",
               columns=LATENCY, note="Closed loop, client and server on a core each, in memory that was used before.")


ROWS = [
    _two_way("one", "two-way call, client and server on one core",
             BARE + ("ring-futex",) + CORELANE + OMNIORB + OTHERS + ("iceoryx2-event",), "bare-tcp",
             "long long ping(long long) in a closed loop; default waits."),
    _two_way("two", "two-way call, client and server on a core each",
             BARE + ("ring-futex",) + CORELANE + ("corelane-channel-client-spin",) + OMNIORB + OTHERS +
             ("iceoryx2-event",), "bare-tcp",
             "long long ping(long long) in a closed loop; default waits."),
    Row("spinning", "two-way call over shared memory, both ends spin",
        ("ring-spin", "corelane-channel-spin", "corelane-channel-client-spin", "iceoryx2"), cores="two",
        load=_calls(20000, 2000), quick=_calls(500, 100), reference="ring-spin", columns=LATENCY,
        note="The ring carries the same GIOP messages between two processes and does nothing else."),
    Row("default-closed", "default waits, closed loop",
        BARE + CORELANE + OMNIORB + OTHERS, cores="two", load=_calls(20000, 2000, "--idle-ms", "1000"),
        quick=_calls(500, 100, "--idle-ms", "200"), reference="bare-unix", columns=LATENCY + ("idle_cpu_ms",),
        note="Idle CPU: milliseconds of both processes in one second without calls, right after the calls."),
    Row("default-1000", "default waits, 1,000 calls a second",
        BARE + CORELANE + OMNIORB + OTHERS, cores="two", load=_calls(3000, 100, "--rate", "1000"),
        quick=_calls(200, 20, "--rate", "1000"), reference="bare-unix", columns=LATENCY,
        note="The client sleeps between calls. A call is timed from its start."),
    _threads(1), _threads(4), _threads(16),
    Row("processes-64", "throughput, 64 client processes with a thread each",
        BARE + CORELANE + OMNIORB + OTHERS, how="processes", load=_throughput(1, 2000), quick=_throughput(1, 300), count=64,
        quick_count=8, metric="rate", reference="omniorb-tcp", columns=RATE,
        note="The processes connect first and begin together; their rates are added."),
    Row("connections-1000", "throughput, 1,000 connections of which 10 are active",
        ("bare-tcp", "bare-unix", "corelane-tcp", "corelane-unix", "omniorb-tcp-16", "omniorb-unix-16", "ace-tp",
         "ice-own", "grpc-own", "capnp", "zeromq"), how="crowd",
        load=_throughput(10, 1500), quick=_throughput(10, 200), count=990, quick_count=90, metric="rate",
        reference="omniorb-tcp-16", columns=RATE,
        note="Ten threads call; 990 more connections made one call each and are idle. Corelane's server runs with "
             "limits.connections and limits.connections_per_peer at 20,000."),
    Row("oneway-64", "oneways of 64 octets, one thread",
        BARE + ("ring-futex",) + CORELANE + OMNIORB + ("ace-tp", "ice", "zeromq", "zeromq-ipc"),
        load=("--load", "oneways", "--size", "64", "--duration-ms", "1000"),
        quick=("--load", "oneways", "--size", "64", "--duration-ms", "100"), metric="rate", reference="omniorb-tcp",
        columns=ONEWAY,
        note="The rate counts what the server has run, until it has run all. Lost: sent and never run. Failed: the "
             "call raised an exception."),
    _bulk("echo", "64k", 65536, "echo of"), _bulk("echo", "1m", 1048576, "echo of"),
    _bulk("put", "64k", 65536, "to the server,"), _bulk("put", "1m", 1048576, "to the server,"),
    _bulk("get", "64k", 65536, "from the server,"), _bulk("get", "1m", 1048576, "from the server,"),
    Row("task", "calls of an admitted task, one core, 4,000 calls a second",
        ("bare-tcp", "floor-reader", "floor-direct", "floor-one-hop", "floor-two-hops", "corelane-tcp",
         "corelane-task-direct", "corelane-task-manager", "corelane-unix", "corelane-task-direct-unix",
         "corelane-task-manager-unix", "corelane-channel", "corelane-task-direct-channel",
         "corelane-task-manager-channel"), cores="one",
        load=_calls(8000, 500, "--rate", "4000", "--pace", "spin"),
        quick=_calls(400, 50, "--rate", "4000", "--pace", "spin"), reference="bare-tcp", columns=LATENCY,
        note="Open loop: the client spins until a call is due, and the call is timed from then. A floor has the mode's "
             "threads, priorities and system calls, and no ORB (bench/latency/hops.cpp); its messages have 64 bytes."),
    Row("tail-idle", "tail latency, 5,000 calls a second, idle machine",
        BARE + CORELANE + OMNIORB + OTHERS, cores="two",
        load=_calls(50000, 1000, "--rate", "5000", "--pace", "due"),
        quick=_calls(500, 50, "--rate", "5000", "--pace", "due"), metric="p9999_ns", reference="bare-tcp",
        columns=LATENCY, note="Open loop: timed from when the call was due, so a stall counts for every call that it "
                              "delayed. --tail-calls 2000000 makes 10^7 calls in 5 rounds."),
    Row("tail-busy", "tail latency, 5,000 calls a second, beside stress-ng",
        BARE + CORELANE + OMNIORB + OTHERS, cores="two",
        load=_calls(50000, 1000, "--rate", "5000", "--pace", "due"),
        quick=_calls(500, 50, "--rate", "5000", "--pace", "due"), metric="p9999_ns", reference="bare-tcp",
        columns=LATENCY, beside=("stress-ng", "--cpu", "0", "--quiet"),
        note="As above, beside a busy stress-ng thread on each core."),
    Row("idle-memory", "10,000 idle connections",
        ("bare-tcp", "bare-unix", "corelane-tcp", "corelane-unix", "omniorb-tcp", "omniorb-unix",
         "ice-own", "grpc-own", "capnp", "zeromq"), how="idle", cores="one",
        load=_calls(20000, 20000), quick=_calls(100, 20), count=10000, quick_count=200, metric="rss_kib",
        reference="bare-tcp", columns=("rss_kib", "kernel_kib", "p50_before_ns", "p50_ns", "connections"),
        note="KiB for each connection: growth of the server's RSS, and of the kernel's slabs, stacks and page tables "
             "for both ends. p50 of a ping before, and beside the idle connections."),
    Row("idle-processes", "64 idle client processes with a connection each",
        ("bare-unix", "corelane-tcp", "corelane-unix", "corelane-channel", "omniorb-unix"), how="idle", cores="one",
        load=_calls(3000, 300), quick=_calls(100, 20), count=64, quick_count=4, held_by=1, metric="rss_kib",
        reference="bare-unix", columns=("rss_kib", "kernel_kib", "p50_before_ns", "p50_ns", "connections"),
        note="As above, for clients that each have a process: a channel belongs to one."),
    Row("first-call", "time to first call",
        BARE + CORELANE + OMNIORB + OTHERS, how="first", load=("--load", "first"), count=7, quick_count=2, metric="first_ns",
        reference="bare-tcp", columns=("first_ns",),
        note="From the start of the client's process to its first reply; median of several starts."),
    Row("collocated", "collocated call",
        ("virtual-call", "corelane-collocated-direct", "corelane-collocated", "omniorb-collocated", "omniorb-shortcut"),
        how="alone", cores="one",
        load=("--calls", "2000"), quick=("--calls", "50"), metric="p50_call_ns", reference="omniorb-collocated",
        columns=("p50_call_ns", "p99_call_ns", "p999_call_ns", "max_call_ns"),
        note="Nanoseconds of one call, as means of batches of 1,000."),
    Row("size", "size of the programs", ("bare-tcp", "corelane-tcp", "omniorb-tcp", "ace-tp", "ice", "grpc", "capnp", "zeromq"), how="size", metric="server_kib",
        reference="bare-tcp", columns=("server_kib", "client_kib", "server_all_kib", "client_all_kib"),
        note="KiB without symbols; `all` with the shared libraries that it loads beside those of C and C++."),
]


def row_named(name):
    return next(row for row in ROWS if row.name == name)


def choose(words):
    """Returns the rows with these names; all of them for no words. Raises ValueError for an unknown word."""
    known = [row.name for row in ROWS]
    for word in words:
        if word not in known:
            raise ValueError(f"unknown row '{word}'; rows are {', '.join(known)}")
    return [row for row in ROWS if not words or row.name in words]
