"""The peers: what is compared, how it is built and how its programs are started.

A peer is one way to make the calls: a library, a transport and the options that matter. Peers of one group share their
programs (the target corelane_peer_GROUP) and their Debian packages.

In arguments, {dir} is the folder of the run, {run} its name and {shm} a path in shared memory. They are new for each
run.
"""
import dataclasses
import shutil


@dataclasses.dataclass(frozen=True)
class Group:
    name: str
    title: str
    packages: tuple = ()
    target: str = ""  # target of CMake; empty: corelane_peer_NAME

    @property
    def build_target(self):
        return self.target or f"corelane_peer_{self.name}"


GROUPS = [
    Group("bare", "sockets and shared memory without a library"),
    Group("floors", "the threads of Corelane's modes without Corelane", target="corelane-bench-hops"),
    Group("corelane", "Corelane"),
    Group("omniorb", "omniORB", ("omniidl", "omniorb-idl", "libomniorb4-dev")),
    Group("ace", "a leader/followers server on ACE_TP_Reactor", ("libace-dev",)),
    Group("ice", "ZeroC Ice", ("libzeroc-ice-dev", "zeroc-ice-compilers")),
    Group("grpc", "gRPC", ("libgrpc++-dev", "libprotobuf-dev", "protobuf-compiler", "protobuf-compiler-grpc")),
    Group("capnp", "Cap'n Proto RPC", ("capnproto", "libcapnp-dev")),
    Group("zeromq", "ZeroMQ", ("libzmq3-dev",)),
    Group("iceoryx2", "iceoryx2", ("cargo-web", "libclang1-16", "libclang-common-16-dev")),
]


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    group: str
    title: str
    server: tuple = ()  # program and arguments; empty: the client does everything itself
    client: tuple = ()  # program and arguments, without those of the load
    address: str = "{ready}"   # what the client gets as --address; {ready} is what the server announced
    crowd: tuple = ()  # program and arguments that hold idle connections; empty: the client opens them itself
    older: str = ""  # the folder with Corelane's programs of another build; empty: this build's


def _bare(transport, title):
    listen = {"tcp": "tcp:0", "unix": "unix:{dir}/s"}[transport]
    return Peer(f"bare-{transport}", "bare", title, ("corelane-peer-bare-server", "--address", listen),
                ("corelane-peer-bare-client",))


def _ring(kind, title):
    return Peer(f"ring-{kind}", "bare", title,
                ("corelane-peer-bare-ring-server", "--address", "{shm}", "--kind", kind),
                ("corelane-peer-bare-ring-client", "--kind", kind))


def _floor(shape, title):
    return Peer(f"floor-{shape}", "floors", title, ("../latency/corelane-bench-hops", shape),
                ("corelane-peer-bare-client", "--kind", "block"), address="tcp:{ready}")


CORELANE = ("-ORBLogLevel", "error", "-ORBRuntimeDirectory", "{dir}")
CORELANE_LISTEN = {
    "tcp": ("-ORBEndpointListen", "127.0.0.1:0", "-ORBEndpointLocal", "off"),
    "unix": ("-ORBEndpointListen", "unix:{dir}/s", "-ORBEndpointLocal", "off"),
    "channel": ("-ORBEndpointListen", "channel:{dir}/c", "-ORBEndpointLocal", "off"),
}
CORELANE_LIMITS = ("-ORBLimitsConnections", "20000", "-ORBLimitsConnectionsPerPeer", "20000")
# A server whose threads spin at their connections.
CORELANE_SPIN = ("-ORBBestEffortWait", "spin")


def _crowd_of(transport):
    """Returns a bare client that holds idle connections to a GIOP server: an ORB's own client would pool them."""
    if transport == "unix":
        return ("corelane-peer-bare-client", "--address", "unix:{dir}/s", "--kind", "{ready}")
    return ("corelane-peer-bare-client", "--address", "{ready}") if transport == "tcp" else ()


def _corelane(name, title, transport, server=(), client=()):
    return Peer(f"corelane-{name}", "corelane", title,
                ("corelane-peer-corelane-server",) + CORELANE + CORELANE_LISTEN[transport] + CORELANE_LIMITS + server,
                ("corelane-peer-corelane-client",) + CORELANE + client, crowd=_crowd_of(transport))


def _task(mode, transport, name, title):
    return _corelane(f"task-{name}", f"Corelane {title}, admitted task, {mode}", transport,
                     ("-ORBDispatchMode", mode, "-ORBLimitsPeerOverrun", "report"), ("--kind", "task"))


def _omniorb(transport, connections, name, title):
    endpoint = {"tcp": "giop:tcp:127.0.0.1:", "unix": "giop:unix:{dir}/s"}[transport]
    return Peer(f"omniorb-{name}", "omniorb", title, ("corelane-peer-omniorb-server", "-ORBendPoint", endpoint),
                ("corelane-peer-omniorb-client", "-ORBmaxGIOPConnectionPerServer", str(connections)),
                crowd=_crowd_of(transport))


def _collocated(group, name, title, kind):
    return Peer(name, group, title, client=(f"corelane-peer-{group}-collocated", "--kind", kind), address="")


def _ice(name, title, kind=()):
    return Peer(name, "ice", title, ("corelane-peer-ice-server", "--address", "tcp -h 127.0.0.1"),
                ("corelane-peer-ice-client",) + kind)


def _grpc(name, title, address, kind=()):
    return Peer(name, "grpc", title, ("corelane-peer-grpc-server", "--address", address),
                ("corelane-peer-grpc-client",) + kind)


def _capnp(name, title, address):
    return Peer(name, "capnp", title, ("corelane-peer-capnp-server", "--address", address), ("corelane-peer-capnp-client",))


def _zeromq(name, title, address):
    return Peer(name, "zeromq", title, ("corelane-peer-zeromq-server", "--address", address),
                ("corelane-peer-zeromq-client",))


def _iceoryx2(name, title, kind):
    return Peer(name, "iceoryx2", title,
                ("corelane-peer-iceoryx2", "server", "--address", "corelane-peers/{run}", "--kind", kind),
                ("corelane-peer-iceoryx2", "client", "--kind", kind))


OWN = ("--kind", "own")  # a connection for each caller

PEERS = [
    _bare("tcp", "bare TCP"),
    _bare("unix", "bare Unix"),
    _ring("spin", "bare ring, spinning"),
    _ring("futex", "bare ring, futex"),
    _floor("reader", "floor of no contract"),
    _floor("direct", "floor of direct"),
    _floor("one-hop", "floor of manager"),
    _floor("two-hops", "two hops"),
    _corelane("tcp", "Corelane TCP", "tcp"),
    _corelane("unix", "Corelane Unix", "unix"),
    _corelane("channel", "Corelane channel", "channel"),
    _corelane("channel-client-spin", "Corelane channel, the client spins", "channel", (), ("-ORBClientWait", "spin")),
    _corelane("channel-spin", "Corelane channel, both ends spin", "channel", CORELANE_SPIN, ("-ORBClientWait", "spin")),
    _task("manager", "tcp", "manager", "TCP"),
    _task("manager", "unix", "manager-unix", "Unix"),
    _task("manager", "channel", "manager-channel", "channel"),
    _task("direct", "tcp", "direct", "TCP"),
    _task("direct", "unix", "direct-unix", "Unix"),
    _task("direct", "channel", "direct-channel", "channel"),
    _collocated("corelane", "corelane-collocated", "Corelane, through the POA", "poa"),
    _collocated("corelane", "corelane-collocated-direct", "Corelane, corelane::poa::direct()", "direct"),
    _collocated("corelane", "virtual-call", "a virtual call", "virtual"),
    _omniorb("tcp", 5, "tcp", "omniORB TCP, 5 connections"),
    _omniorb("tcp", 1, "tcp-1", "omniORB TCP, 1 connection"),
    _omniorb("tcp", 16, "tcp-16", "omniORB TCP, 16 connections"),
    _omniorb("unix", 5, "unix", "omniORB Unix, 5 connections"),
    _omniorb("unix", 1, "unix-1", "omniORB Unix, 1 connection"),
    _omniorb("unix", 16, "unix-16", "omniORB Unix, 16 connections"),
    _collocated("omniorb", "omniorb-collocated", "omniORB, through the POA", "poa"),
    _collocated("omniorb", "omniorb-shortcut", "omniORB, its shortcut policy", "shortcut"),
    Peer("ace-tp", "ace", "ACE_TP_Reactor, 4 threads", ("corelane-peer-ace-server", "--threads", "4"),
         ("corelane-peer-bare-client",)),
    _ice("ice", "ZeroC Ice TCP"),
    _ice("ice-own", "ZeroC Ice TCP, own connections", OWN),
    _grpc("grpc", "gRPC TCP", "127.0.0.1:0"),
    _grpc("grpc-own", "gRPC TCP, own connections", "127.0.0.1:0", OWN),
    _grpc("grpc-unix", "gRPC Unix", "unix:{dir}/s"),
    _capnp("capnp", "Cap'n Proto TCP", "127.0.0.1"),
    _capnp("capnp-unix", "Cap'n Proto Unix", "unix:{dir}/s"),
    _zeromq("zeromq", "ZeroMQ TCP", "tcp://127.0.0.1:*"),
    _zeromq("zeromq-ipc", "ZeroMQ Unix", "ipc://{dir}/s"),
    _iceoryx2("iceoryx2", "iceoryx2 request-response, polling", "spin"),
    _iceoryx2("iceoryx2-event", "iceoryx2 request-response, events", "event"),
]


def peer_named(name):
    return next(peer for peer in PEERS if peer.name == name)


def group_named(name):
    return next(group for group in GROUPS if group.name == name)


BEFORE = "@before"


def twin_of(peer, folder):
    """Returns the same peer, with Corelane's programs of another build."""
    return dataclasses.replace(peer, name=peer.name + BEFORE, title=peer.title + ", before", older=folder)


def title_of(name):
    known = next((peer for peer in PEERS if peer.name == name.removesuffix(BEFORE)), None)
    return (known.title if known else name) + (", before" if known and name.endswith(BEFORE) else "")


def groups_of(peer):
    """Returns the groups whose programs the peer needs: its own, and those of clients of other groups that it uses."""
    programs = [words[0] + "-" for words in (peer.server, peer.client) if words]
    borrowed = {group.name for group in GROUPS for program in programs if program.startswith(f"corelane-peer-{group.name}-")}
    return borrowed | {peer.group}


def packages_of(group):
    """Returns the Debian packages that the group needs, and cargo if it is not installed."""
    return [package for package in group.packages if not (package == "cargo-web" and shutil.which("cargo"))]


def choose(words):
    """Returns the peers whose name or group is one of the words; all of them for no words. Raises ValueError for an
    unknown word."""
    known = {peer.name for peer in PEERS} | {group.name for group in GROUPS}
    unknown = [word for word in words if word not in known]
    if unknown:
        raise ValueError(f"unknown peer '{unknown[0]}'; peers are {', '.join(sorted(known))}")
    return [peer for peer in PEERS if not words or peer.name in words or peer.group in words]
