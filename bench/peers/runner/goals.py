"""The goals of the comparison: what Corelane has to reach, compared with its peers.

A goal is judged on the medians of the values of each round. It is met, missed, or not measured. If a row of Corelane
failed in a round, its goal is missed.
"""
import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Quantity:
    row: str
    peer: str
    metric: str


@dataclasses.dataclass(frozen=True)
class Goal:
    row: str
    says: str
    kind: str                   # ratio: first to second; sum: first - second - third + fourth; value: the first
    quantities: tuple
    bound: float
    at_least: bool = False
    unit: str = "x"
    instead: typing.Optional["Goal"] = None  # meeting this goal instead is enough


@dataclasses.dataclass(frozen=True)
class Judgement:
    goal: Goal
    got: typing.Optional[float]
    status: str                 # met, missed or not measured
    why: str = ""


def _ratio(row, metric, peer, to, bound, at_least=False, to_row=None, to_metric=None, says=None, instead=None):
    return Goal(row, says or f"{peer} to {to}" + (f" in {to_row}" if to_row else ""), "ratio",
                (Quantity(row, peer, metric), Quantity(to_row or row, to, to_metric or metric)), bound, at_least,
                instead=instead)


def _value(row, metric, peer, bound, unit, says):
    return Goal(row, f"{peer}: {says}", "value", (Quantity(row, peer, metric),), bound, unit=unit)


def _throughput(threads):
    row = f"throughput-{threads}"
    for kind in ("tcp", "unix"):
        bare = _ratio(row, "rate", f"corelane-{kind}", f"bare-{kind}", 0.9, True)
        yield _ratio(row, "rate", f"corelane-{kind}", f"omniorb-{kind}-16", 1.2, True, instead=bare)
    yield _ratio(row, "rate", "corelane-channel", "omniorb-unix-16", 2.0, True)


TCP_PEERS = ("omniorb-tcp", "ace-tp", "ice", "grpc", "capnp", "zeromq")
UNIX_PEERS = ("omniorb-unix", "grpc-unix", "capnp-unix", "zeromq-ipc")
# Corelane's transport, the bare socket of the same kind, and the peers of the same kind.
TAILS = (("tcp", "bare-tcp", TCP_PEERS), ("unix", "bare-unix", UNIX_PEERS), ("channel", "bare-unix", UNIX_PEERS))


def _goals():
    yield _ratio("two-way-one", "p50_ns", "corelane-tcp", "bare-tcp", 1.12)
    yield _ratio("two-way-one", "p50_ns", "corelane-unix", "bare-unix", 1.20)
    yield _ratio("two-way-one", "p50_ns", "corelane-tcp", "omniorb-tcp", 0.95)
    yield _ratio("two-way-one", "p50_ns", "corelane-unix", "omniorb-unix", 0.95)
    for to, bound in (("ring-spin", 2.5), ("iceoryx2", 1.0)):
        yield _ratio("spinning", "p50_ns", "corelane-channel-spin", to, bound)
    yield _ratio("default-closed", "p50_ns", "corelane-channel", "bare-unix", 0.2)
    yield _value("default-closed", "idle_cpu_ms", "corelane-channel", 0.1, "ms/s", "idle CPU afterwards")
    yield _ratio("default-1000", "p50_ns", "corelane-channel", "bare-unix", 1.0)
    for threads in (4, 16):
        yield from _throughput(threads)
    for row in ("processes-64", "connections-1000"):
        for kind in ("tcp", "unix", "channel"):
            if (row, kind) != ("connections-1000", "channel"):
                yield _ratio(row, "rate", f"corelane-{kind}", f"corelane-{kind}", 0.9, True, "throughput-16")
    for kind, bound, to in (("tcp", 1.5, "tcp"), ("unix", 1.5, "unix"), ("channel", 3.0, "unix")):
        yield _ratio("oneway-64", "rate", f"corelane-{kind}", f"omniorb-{to}", bound, True)
        yield _value("oneway-64", "lost", f"corelane-{kind}", 0, "", "lost")
        yield _value("oneway-64", "failed", f"corelane-{kind}", 0, "", "failed")
    for size in ("64k", "1m"):
        yield _ratio(f"echo-{size}", "p50_ns", "corelane-tcp", "bare-tcp", 1.10)
        for operation in ("put", "get"):
            yield _ratio(f"{operation}-{size}", "p50_ns", "corelane-channel-spin", "bare-unix", 0.5)
            yield _ratio(f"{operation}-{size}", "p50_ns", "corelane-channel", "bare-unix", 0.75)
    for row in ("tail-idle", "tail-busy"):
        for kind, bare, others in TAILS:
            yield _ratio(row, "p9999_ns", f"corelane-{kind}", bare, 1.5)
            for peer in others:
                yield _ratio(row, "p9999_ns", f"corelane-{kind}", peer, 1.0)
    direct, floor = Quantity("task", "corelane-task-direct", "p50_ns"), Quantity("task", "floor-direct", "p50_ns")
    manager, hop = Quantity("task", "corelane-task-manager", "p50_ns"), Quantity("task", "floor-one-hop", "p50_ns")
    yield Goal("task", "direct above its floor", "sum", (direct, floor), 400, unit="ns")
    yield Goal("task", "manager above direct, less the same of their floors", "sum", (manager, direct, hop, floor), 300,
               unit="ns")
    yield _ratio("collocated", "p50_call_ns", "corelane-collocated", "omniorb-collocated", 0.5)
    yield Goal("collocated", "opt-in direct above a virtual call", "sum",
               (Quantity("collocated", "corelane-collocated-direct", "p50_call_ns"),
                Quantity("collocated", "virtual-call", "p50_call_ns")), 2, unit="ns")
    for kind in ("tcp", "unix"):
        yield _value("idle-memory", "rss_kib", f"corelane-{kind}", 10, "KiB", "RSS of an idle connection")
        yield _ratio("idle-memory", "p50_ns", f"corelane-{kind}", f"corelane-{kind}", 1.05, to_metric="p50_before_ns",
                     says=f"corelane-{kind}: a call beside idle connections to one without")


GOALS = list(_goals())

SUM_SIGNS = (1, -1, -1, 1)


def _compute(goal, results):
    if goal.kind == "value":
        return results.median(*dataclasses.astuple(goal.quantities[0]))
    quantities = [dataclasses.astuple(quantity) for quantity in goal.quantities]
    if goal.kind == "ratio":
        return results.compared(lambda a, b: a / b if b else None, *quantities)
    return results.compared(lambda *values: sum(sign * value for sign, value in zip(SUM_SIGNS, values)), *quantities)


def _is_met(goal, got):
    return got >= goal.bound if goal.at_least else got <= goal.bound


def judge(goal, results):
    got = _compute(goal, results)
    subject = goal.quantities[0]
    failed, rounds = len(results.failures(subject.row, subject.peer)), results.rounds_of(subject.row, subject.peer)
    if got is None:
        if failed:
            return Judgement(goal, None, "missed", f"{failed} of {rounds} rounds failed")
        missing = [quantity for quantity in goal.quantities
                   if not results.values(quantity.row, quantity.peer, quantity.metric)]
        return Judgement(goal, None, "not measured", f"no {missing[0].peer} in {missing[0].row}" if missing else "")
    if failed:
        return Judgement(goal, got, "missed", f"{failed} of {rounds} rounds failed")
    if _is_met(goal, got):
        return Judgement(goal, got, "met")
    if goal.instead and judge(goal.instead, results).status == "met":
        return Judgement(goal, got, "met", f"{goal.instead.says}: {text_of_bound(goal.instead)}")
    return Judgement(goal, got, "missed")


def judge_all(results, rows):
    """Returns the judgements of all goals of these rows."""
    return [judge(goal, results) for goal in GOALS if goal.row in rows]


def text_of_bound(goal):
    return f"{'>=' if goal.at_least else '<='} {goal.bound:g}{goal.unit if goal.unit == 'x' else ' ' + goal.unit}".strip()
