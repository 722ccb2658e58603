#!/usr/bin/env python3
"""Checks what the compiler cannot: layers, purity, memory orders and their comments, names of tests, language.

    lint.py [ROOT]      prints `file:line: error: what; what is allowed`, exits 1 when there is an error.

Warnings (long files, full folders) are printed and do not fail. The rules are the table below; tests/lint/lint_test.py breaks each
one.
"""
import os
import re
import subprocess
import sys
from collections import namedtuple

from language import check_language

# ---- The layer table ----------------------------------------------------------------------------------------------------
# A file may include any lower layer. Within a layer it may include only the folders named in SAME_LAYER.
LAYERS = [
    ["orb/base"],
    ["orb/os", "orb/cdr", "orb/sched"],
    ["orb/channel", "orb/giop", "orb/sim"],
    ["orb/transport", "orb/dispatch", "orb/any", "orb/leader_followers"],
    ["orb/core"],
    ["orb/poa", "orb/rtcorba", "orb/rt", "orb/dynamic", "orb/eval", "orb/scale"],
    ["orb/corba", "orb"],  # orb: orb/generated.h, which generated code includes in addition to orb/corba
    ["services/nameserver/client"],  # a library for programs
    ["services", "examples", "bench"],
]
SAME_LAYER = {"orb/leader_followers": ["orb/transport"], "orb/corba": ["orb"], "orb": ["orb/corba"], "bench": ["services"]}

# ---- The table of rooms -------------------------------------------------------------------------------------------------
# A room is a subfolder of a large folder. Its files may include the public headers at the top of the folder, and the rooms
# named here. The lists name only rooms above them in the table, so includes point one way. A public header includes no
# room. A source at the top may include any room, because it joins them. "*" stands for all rooms that have no line.
ROOMS = {
    "orb/base": {"settings": [], "text": []},
    "orb/channel": {
        "memory": [],
        "ends": ["memory"],
    },
    "orb/dispatch": {
        "telemetry": [],
        "resources": [],
        "queue": [],
        "serving": [],
        "leases": ["queue"],
        "budgets": [],
        "tasks": ["resources", "telemetry"],
        "cores": ["budgets", "queue", "resources", "tasks", "telemetry"],
        "best_effort": ["budgets", "leases", "queue", "serving"],
        "inline": ["queue", "tasks", "telemetry"],
        "records": ["best_effort", "cores", "queue", "telemetry"],
        "admission": ["best_effort", "leases", "queue", "resources", "telemetry"],
        "manager": ["admission", "best_effort", "cores", "leases", "queue", "records", "resources", "serving", "telemetry"],
    },
    "orb/core": {
        "text": [],
        "contracts": ["text"],
        "config": ["contracts", "text"],
        "reservation": [],
        "objects": ["contracts"],
        "connections": [],
        "chains": ["connections"],
        "hooks": [],
        "policies": [],
        "client": ["chains", "connections", "hooks", "objects", "policies"],
        "types": ["client"],
        "requests": ["objects"],
        "server": ["chains", "client", "config", "connections", "hooks", "objects", "requests"],
        "lifecycle": ["client", "connections", "contracts", "hooks", "objects", "server"],
    },
    "orb/os": {
        "machine": [],
        "process": ["machine"],
        "threads": ["machine"],
        "memory": ["process"],
        "peers": ["threads"],
        "files": ["peers", "process"],
        "wait": ["files", "machine", "process"],
        "locks": ["machine", "wait"],
    },
    "orb/transport": {
        "detail": [],
        "stream": ["detail"],
        "*": ["detail", "stream"],  # each transport
    },
    "orb/sched": {
        "analysis": [],
        "schedulers": ["analysis"],
        "servers": ["analysis"],
        "allocation": [],
        "admission_tests": ["analysis"],
        "admission": ["analysis", "schedulers", "servers"],
        "trace": ["schedulers"],
    },
    "orb/sim": {
        "multicore": [],
        "baselines": [],
    },
    "orb/eval": {
        "host_card": [],
        "generate": [],
        "scenario": ["generate"],
        "formats": ["scenario"],
        "bounds": [],
        "planning": [],
        "statistics": [],
        "experiment": ["generate", "planning"],
        "report": ["statistics"],
    },
    "orb/corba": {"types": [], "interfaces": []},  # sources alone: users and generated code include the headers at the top
    "idl/front": {
        "preprocessor": [],
        "lexer": [],
        "parser": ["lexer"],
    },
    "idl/sema": {
        "names": [],
        "types": [],
        "constants": ["names", "types"],
        "annotations": ["constants", "names"],
        "definitions": ["annotations", "constants", "names", "types"],
        "type_readers": ["definitions"],
        "analyzer": ["definitions", "type_readers", "types"],
    },
    "idl/cxx": {
        "spelling": [],
        "calls": ["spelling"],
        "definitions": ["calls", "spelling"],
        "async": ["calls", "definitions", "spelling"],
        "files": ["async", "calls", "definitions", "spelling"],
    },
    "services/nameserver/stores": {
        "tree": [],
        "sqlite": ["tree"],
        "http": [],
        "etcd": ["http", "sqlite", "tree"],
    },
    "services/reserved/backends": {
        "resources": [],
        "cores": ["resources"],
    },
    "services/corelane": {
        "output": [],
        "host": ["output"],
        "references": ["output"],
        "naming": ["host", "output", "references"],
        "host_card": ["output"],
        "doctor": ["host", "host_card", "naming", "output"],
        "trace": ["host", "output"],
        "measure": ["host", "output", "references", "trace"],
        "servers": ["host", "output"],
        "reservation": ["host", "output", "references"],
        "plan": ["output"],
        "simulate": ["output", "plan"],
        "evaluate": ["output", "plan"],
        "convert": ["output"],
        "scale": ["measure", "output"],
        "reproductions": [],
        "tune": ["output"],
        "real_run": [],
        "commands": ["convert", "doctor", "evaluate", "host", "measure", "naming", "output", "plan", "real_run",
                     "references", "reproductions", "reservation", "scale", "servers", "simulate", "trace", "tune"],
    },
}
# Headers in rooms that other folders may include. Tests may include any. Make these lists shorter, not longer.
EXPORTED = {
    "orb/channel": ["ends/hello.h"],
    "orb/base": [
        "settings/overrun_name.h", "settings/setting.h", "settings/setting_values.h", "text/counted.h",
        "text/one_line.h", "text/what_of.h",
    ],
    "orb/dispatch": [
        "budgets/aperiodic_server.h", "cores/budget_thread.h", "leases/cross_process_analysis.h",
        "leases/host_ledger.h", "leases/ledger_file.h", "manager/end_requests.h", "queue/fair_shares.h",
        "queue/request_queue.h", "resources/resource_names.h", "serving/request_source.h",
        "telemetry/recorded_scheduler.h",
    ],
    "orb/core": [
        "client/async_invocation.h", "client/client_call.h", "client/name_service.h", "client/reference.h",
        "client/task_binding.h", "config/command_line.h", "config/orb_options.h", "config/settings_list.h",
        "config/settings_of.h", "connections/address.h", "contracts/contract_backlog.h", "contracts/contracts_file.h",
        "contracts/slowdowns.h", "contracts/slowdowns_file.h", "lifecycle/orb_state.h", "objects/object_dispatch.h",
        "objects/poa_manager_state.h", "policies/id_assignment.h", "policies/implicit_activation.h", "policies/policy_kind.h",
        "requests/server_request.h", "server/dedicated_connection.h", "server/server.h", "server/server_connection.h",
        "text/spelling.h", "text/toml_text.h", "types/abstract_base.h", "types/value.h",
    ],
    "orb/os": [
        "files/directory.h", "files/file_room.h", "files/file_watch.h", "files/small_file.h", "locks/light_wait.h",
        "locks/requester_lock.h", "machine/cache_counters.h", "machine/core_domain.h", "machine/core_list.h",
        "machine/cpu_mask.h", "machine/host.h", "machine/host_key.h", "machine/mounts.h", "machine/topology.h",
        "memory/byte_buffer.h", "peers/own_user.h",
        "peers/passed_descriptors.h", "peers/passed_socket.h", "peers/peer_groups.h", "peers/peer_trust.h",
        "peers/user_name.h", "process/child_process.h", "process/descriptor_limit.h", "process/environment.h",
        "process/error_capture.h", "process/fork_guard.h", "process/process_watch.h", "process/size_limit_guard.h",
        "process/standard_descriptors.h", "threads/closer.h", "threads/core_isolation.h", "threads/deadline_class.h",
        "threads/deferral.h", "threads/scheduling_class.h", "threads/thread_barrier.h", "threads/thread_group.h", "threads/thread_state.h",
        "wait/adaptive_spin.h", "wait/agent_thread.h", "wait/condition_variable.h", "wait/directory_bell.h", "wait/doorbell.h",
        "wait/event_poll.h", "wait/spin_guard.h", "wait/wait.h", "wait/wait_loop.h",
    ],
    "orb/transport": ["detail/reactor_impl.h", "tcp/tcp.h"],
    "orb/sched": [
        "admission/placement.h", "analysis/holistic.h", "analysis/mixed_criticality.h", "analysis/spin_lock.h",
        "analysis/split_placement.h", "analysis/synthetic_utilization.h", "schedulers/any_scheduler.h", "schedulers/arrival_meter.h", "schedulers/deadline_levels.h",
        "schedulers/firm_timers.h", "schedulers/core_scheduler.h", "servers/reader_server.h", "servers/reservation.h", "servers/server.h", "servers/server_driver.h",
        "servers/sporadic_server.h", "servers/task_server.h", "trace/trace.h", "trace/trace_file.h",
        "trace/trace_kinds.h",
    ],
    "orb/sim": ["baselines/job_admission_simulator.h", "baselines/leader_followers_model.h"],
    "orb/eval": [
        "experiment/csv.h", "experiment/job_account.h", "host_card/host_card.h", "planning/custom_policies.h", "report/comparison_tables.h",
        "report/curve_style.h", "report/report.h", "report/table.h", "scenario/node.h", "scenario/node_reader.h", "scenario/toml_nodes.h",
        "statistics/comparison.h",
    ],
    "services/corelane": ["evaluate/origin.h", "evaluate/set_runner.h", "real_run/overheads/decision_costs.h", "real_run/run_directory.h"],
    "idl/front": ["lexer/lexer.h", "preprocessor/preprocessor.h"],
    "idl/sema": ["names/scope.h"],
    "services/nameserver/stores": ["etcd/etcd_settings.h"],
    "services/reserved/backends": [
        "cores/affinity_only.h", "cores/cgroup_v1.h", "cores/cgroup_v2.h", "cores/restore.h", "resources/controller.h",
        "resources/resource_means.h",
    ],
}
# Includes that the table of rooms does not allow: (file, header): reason.
ROOM_EXCEPTIONS = {}
FULL_FOLDER = 30  # files

# clang checks the use of os::Mutex and os::PiMutex, but not that of std::mutex. So the library has members of these types
# only.
STANDARD_MUTEX = re.compile(r"\bstd::(?:shared_|timed_)?mutex\s+\w+\s*[;{=C]")
WRAPS_STANDARD_MUTEX = "orb/os/mutex.h"

# Parts of other projects that only some folders know, so that the rest builds and reads without them.
Foreign = namedtuple("Foreign", "what pattern folders")
FOREIGN = [
    Foreign("includes ACE", re.compile(r"^\s*#\s*include\s*[<\"]ace/"),
            ("orb/leader_followers/", "tests/orb/leader_followers/", "bench/peers/ace/")),
    Foreign("names etcd", re.compile("etcd", re.IGNORECASE), ("services/nameserver/", "tests/")),
]
# Files that break that table: (what, file): reason.
FOREIGN_EXCEPTIONS = {("names etcd", "services/settings.cpp"): "the list of the settings that services declare"}
# A row of a table of settings (orb/base/settings/setting.h) begins with the key. The tables are in files of this name.
SETTINGS_FILE = "settings.cpp"
SETTING_ROW = re.compile(r'^\s*\{"([a-z_]+\.[a-z_]+)"')

# The compiler is separate: it has no layers but a list for each folder, and never includes the runtime.
IDL = {
    "idl/ast": [],
    "idl/model": [],
    "idl/front": ["idl/ast"],
    "idl/sema": ["idl/ast", "idl/model"],
    "idl/cxx": ["idl/model"],
    "idl/tool": ["idl/front", "idl/sema", "idl/cxx", "idl/model"],  # the tool prints the model
}

# Code that only computes: no I/O, no clock, no thread.
PURE = ["orb/base", "orb/cdr", "orb/sched", "orb/giop", "orb/sim", "orb/scale",
        "idl/ast", "idl/model", "idl/front", "idl/sema", "idl/cxx"]
IMPURE_HEADER = re.compile(
    r"<(fstream|iostream|filesystem|thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token|"
    r"random_device|unistd\.h|fcntl\.h|poll\.h|pthread\.h|sched\.h|signal\.h|time\.h|ctime|"
    r"sys/(?!types\.h)[^>]*|netinet/[^>]*|arpa/[^>]*|boost/(asio|filesystem|thread|interprocess)[^>]*)>")
IMPURE_CALL = re.compile(
    r"\b(steady_clock|system_clock|high_resolution_clock|clock_gettime|gettimeofday|random_device|getenv|fopen|std::jthread)\b")

CODE_FOLDERS = ("orb", "idl", "services", "examples", "bench", "tests")
LONG_FILE = 500

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ATOMIC_CALL = re.compile(
    r"(?:\.|->)(load|store|exchange|compare_exchange_weak|compare_exchange_strong|fetch_add|fetch_sub|fetch_or|fetch_and|"
    r"fetch_xor|test_and_set)\s*\(")
ATOMIC_MEMBER = re.compile(r"std::atomic(?:<[^;{}()]*>|_[a-z0-9_]+)\s+([a-z_][a-z0-9_]*)\s*[{;=]")
PAIR = re.compile(r"\bPAIR ([A-Za-z0-9_.]+):")
COMMENT_REACH = 6  # the comment may be so many lines above an access
TEST_NAME = re.compile(r'\b(?:TEST_CASE|SCENARIO|TEMPLATE_TEST_CASE|TEMPLATE_LIST_TEST_CASE)\(\s*"((?:[^"\\]|\\.)*)"')
LONE_WORD = re.compile(r'^\s*"[^" \\]{1,20} ?"\s*$')
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep)\s*\(|(?<![\w.:])sleep\s*\(\s*\d")

# Writes to a socket, with the number of arguments of the system call: other functions of these names have fewer. And
# standard streams, which only programs may use: the library writes to the log.
SOCKET_WRITE = re.compile(r"(?<![\w.>:])(?:::)?(send|sendmsg|sendto)\s*\(")
SOCKET_ARGUMENTS = {"send": 4, "sendmsg": 3, "sendto": 6}
STANDARD_STREAM = re.compile(r"\bstd::(cout|cerr|clog)\b|\bSTD(OUT|ERR)_FILENO\b|\b(stdout|stderr)\b|\bperror\(")
WRITES_TO_STREAMS = ("orb/os/process/standard_descriptors.cpp", "orb/os/process/child_process.cpp",
                     "orb/os/memory/stack_overflow.cpp")  # in the handler of a signal

# Which header declares which name of the standard library. The build precompiles these headers, so it would not notice
# a missing include.
STANDARD = {
    "algorithm": r"std::(?:ranges::)?(?:sort|stable_sort|find_if|find|any_of|all_of|none_of|min|max|minmax|clamp|copy|copy_if|fill|"
                 r"remove_if|count_if|transform|lower_bound|upper_bound|max_element|min_element|equal_range|rotate|reverse)\(",
    "array": r"std::array<",
    "atomic": r"std::atomic(?:_\w+)?\b",
    "chrono": r"std::chrono::",
    "condition_variable": r"std::condition_variable",
    "deque": r"std::deque<",
    "filesystem": r"std::filesystem::",
    "fstream": r"std::[io]?fstream\b",
    "functional": r"std::function<",
    "map": r"std::(?:multi)?map<",
    "memory": r"std::(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|enable_shared_from_this)\b",
    "mutex": r"std::(?:mutex|recursive_mutex|lock_guard|unique_lock|scoped_lock|once_flag)\b",
    "optional": r"std::(?:optional<|nullopt\b)",
    "set": r"std::(?:multi)?set<",
    "span": r"std::span<",
    "string": r"std::(?:string|to_string|u16string|wstring)\b(?!_)",
    "string_view": r"std::string_view\b",
    "thread": r"std::(?:thread\b|this_thread::)",
    "unordered_map": r"std::unordered_(?:multi)?map<",
    "variant": r"std::(?:variant<|visit\(|get_if<|holds_alternative<|monostate\b)",
    "vector": r"std::vector<",
}
STANDARD = {header: re.compile(pattern) for header, pattern in STANDARD.items()}
# Headers that also declare names of others ([iterator.synopsis] and the like), and Catch2's.
BRINGS = {"string": ["string_view"], "filesystem": ["string", "string_view"], "fstream": ["string"], "sstream": ["string"],
          "iostream": ["string"], "stdexcept": ["string"], "thread": ["chrono"], "condition_variable": ["mutex", "chrono"],
          "catch2/catch.hpp": ["string", "string_view", "vector", "memory", "algorithm", "chrono"]}

# How the compiler writes an include, and the names that it puts in place of $0 in the same file.
WRITTEN_INCLUDE = re.compile(r'#include \\"([^"\\]+)\\"')
WRITTEN_NAME = re.compile(r'\.insert\("(\w+)"\)')

NAMED_FILE = re.compile(r"(?<![\w/.-])((?:orb|idl|tests|bench|examples|services|cmake|docs)/[\w./-]+\.(?:h|cpp|py|md|cmake|idl|txt))\b")

# Paths that mean nothing outside of one working place. Split, so that this file does not find itself.
PRIVATE_PATH = re.compile(r"(?<![\w.~])/wor" r"k(?![\w-])|(?<![\w-])share" r"d/(?:design|decisions|style|reference|hooks)\b")

Finding = namedtuple("Finding", "path line message warning", defaults=(False,))


def code_of(line):
    """Returns the line without its comment and with empty string literals."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
    return line.split("//", 1)[0]


def folder_of(path):
    """Returns the folder of the table that contains path, such as orb/cdr, orb, idl/front, services; None for other
    places."""
    parts = path.split("/")
    if path.startswith("services/nameserver/client/"):
        return "services/nameserver/client"
    if parts[0] in ("services", "examples", "bench"):
        return parts[0]
    if parts[0] == "orb":
        return "/".join(parts[:2]) if len(parts) > 2 else "orb"
    if parts[0] == "idl" and len(parts) > 2:
        return "/".join(parts[:2])
    return None


def layer_of(folder):
    return next((number for number, folders in enumerate(LAYERS) if folder in folders), None)


# ---- Rules: each yields findings for one file ---------------------------------------------------------------------------


def includes_of(lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def may_include(source, target):
    """Returns None if a file in folder `source` may include one in `target`; otherwise, what it may include."""
    if source == target:
        return None
    if source.startswith("idl/"):
        allowed = IDL.get(source)
        if allowed is None:
            return f"{source} is not in the table of tests/lint/lint.py"
        return None if target in allowed else f"allowed: {', '.join([source] + allowed)}"
    from_layer, to_layer = layer_of(source), layer_of(target)
    if from_layer is None:
        return f"{source} is not in the layer table of tests/lint/lint.py"
    if to_layer is not None and (to_layer < from_layer or target in SAME_LAYER.get(source, [])):
        return None
    same = SAME_LAYER.get(source, [])
    return f"allowed: layers below {from_layer}" + (f" and {', '.join(same)}" if same else "") + \
        f" (orb layers: {'; '.join(f'{n}: ' + ' '.join(layer) for n, layer in enumerate(LAYERS) if n < from_layer)})"


def check_includes(path, lines):
    source = folder_of(path)
    if source is None:
        return
    for number, bracket, name in includes_of(lines):
        target = folder_of(name) if name.startswith(("orb/", "idl/", "services/", "examples/", "bench/")) else None
        if target is None:
            if bracket == '"' and source.startswith(("orb", "idl")):
                yield Finding(path, number, f'include "{name}" does not name the path from the root')
            continue
        reason = may_include(source, target)
        if reason:
            yield Finding(path, number, f"{source} must not include {name}; {reason}")


def room_of(path):
    """Returns the folder with rooms and the room that contain path. The room is None at the top of the folder; the folder
    is None elsewhere."""
    folder = next((folder for folder in ROOMS if path.startswith(folder + "/")), None)
    if folder is None:
        return None, None
    rest = path.removeprefix(folder + "/")
    return folder, rest.split("/")[0] if "/" in rest else None


def room_fault(path, name):
    """Returns None if the file `path` may include the header `name` by the tables of rooms; otherwise, what it may
    include."""
    source, room = room_of(path)
    target, entered = room_of(name)
    if entered is None or (source, room) == (target, entered) or (path, name) in ROOM_EXCEPTIONS:
        return None
    if source != target:
        known = name.removeprefix(target + "/") in EXPORTED.get(target, [])
        return None if known else f"allowed: the headers at the top of {target}, and EXPORTED of tests/lint/lint.py"
    if room is None:
        return "a public header includes no room" if path.endswith(".h") else None
    allowed = ROOMS[source].get(room, ROOMS[source].get("*", []))
    return None if entered in allowed else f"allowed: the headers at the top of {source}" + \
        "".join(f", {source}/{lower}" for lower in allowed)


def check_rooms(path, lines):
    if folder_of(path) is None:
        return
    folder, room = room_of(path)
    if room is not None and room not in ROOMS[folder] and "*" not in ROOMS[folder]:
        yield Finding(path, 1, f"{folder}/{room} is not in the table of rooms of tests/lint/lint.py")
    for number, _, name in includes_of(lines):
        reason = room_fault(path, name)
        if reason:
            yield Finding(path, number, f"{path} must not include {name}; {reason}")


def check_doors(files):
    """Checks that the tables of rooms list no include that is gone."""
    included = {(path, name) for path, lines in files.items() if folder_of(path) and path.endswith((".h", ".cpp"))
                for _, _, name in includes_of(lines)}
    entered = {name for path, name in included if room_of(path)[0] != room_of(name)[0]}
    for folder, names in EXPORTED.items():
        for name in names:
            if f"{folder}/{name}" in files and f"{folder}/{name}" not in entered:
                yield Finding(f"{folder}/{name}", 1, "no other folder includes it; remove it from EXPORTED")
    for path, name in ROOM_EXCEPTIONS:
        if path in files and (path, name) not in included:
            yield Finding(path, 1, f"it does not include {name}; remove that from ROOM_EXCEPTIONS")


def written_includes(files):
    """Returns the headers that generated code includes, as the compiler's back end has them in its strings."""
    headers = set()
    for path, lines in files.items():
        if not path.startswith("idl/cxx/"):
            continue
        text = "\n".join(lines)
        for name in WRITTEN_INCLUDE.findall(text):
            headers |= {name.replace("$0", word) for word in WRITTEN_NAME.findall(text)} if "$0" in name else {name}
    return headers


def check_used(files):
    """Checks that something includes each header of the product: code, a test, or generated code. Its own .cpp does not
    count."""
    included = written_includes(files)
    for path, lines in files.items():
        if path.endswith((".h", ".cpp")):
            included |= {name for _, _, name in includes_of(lines) if name != path[:-4] + ".h"}
    for path in files:
        if path.startswith(("orb/", "services/", "idl/")) and path.endswith(".h") and path not in included:
            yield Finding(path, 1, "nothing includes it; delete it with its .cpp, or test it if programs include it")


def foreign_line(foreign, lines):
    """Returns the first line that breaks this row of FOREIGN; None if there is none."""
    return next((number for number, line in enumerate(lines, 1) if foreign.pattern.search(line)), None)


def check_foreign(path, lines):
    """Checks that a file does not know what only other folders may know."""
    for foreign in FOREIGN:
        if path.startswith(foreign.folders) or (foreign.what, path) in FOREIGN_EXCEPTIONS:
            continue
        number = foreign_line(foreign, lines)
        if number:
            yield Finding(path, number, f"{path} {foreign.what}; only these may: {', '.join(foreign.folders)}")


def check_mutexes(path, lines):
    """Checks that no class of the library has a mutex whose use clang cannot check."""
    if not path.startswith(("orb/", "services/")) or path == WRAPS_STANDARD_MUTEX:
        return
    for number, line in enumerate(lines, 1):
        if STANDARD_MUTEX.search(code_of(line)):
            yield Finding(path, number, "clang cannot check the use of a std::mutex: take os::Mutex, and say with "
                                        "CORELANE_GUARDED_BY what it guards (orb/base/thread_safety.h)")


def check_foreign_exceptions(files):
    """Checks that FOREIGN_EXCEPTIONS lists no file that keeps the rule by now."""
    for what, path in FOREIGN_EXCEPTIONS:
        foreign = next(foreign for foreign in FOREIGN if foreign.what == what)
        if path in files and not foreign_line(foreign, files[path]):
            yield Finding(path, 1, f"it keeps the rule: nothing in it {what}; remove that from FOREIGN_EXCEPTIONS")


def check_settings(files):
    """Checks that orb/core names no setting that a service declares."""
    keys = {key for path, lines in files.items() if path.startswith("services/") and path.endswith(SETTINGS_FILE)
            for line in lines for key in SETTING_ROW.findall(line)}
    if not keys:
        return
    named = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, sorted(keys)))})(?!\w)")
    for path, lines in files.items():
        if not path.startswith("orb/core/"):
            continue
        for number, line in enumerate(lines, 1):
            for key in named.findall(line):
                yield Finding(path, number, f"orb/core must not name {key}, which a service declares")


def check_folders(files):
    """Counts the files that lie directly in a folder."""
    counts = {}
    for path in files:
        if path.startswith(("orb/", "idl/", "services/")) and path.endswith((".h", ".cpp")):
            folder = os.path.dirname(path)
            counts[folder] = counts.get(folder, 0) + 1
    for folder, count in sorted(counts.items()):
        if count > FULL_FOLDER:
            yield Finding(folder, 1, f"{count} files; make rooms above {FULL_FOLDER}", True)


def check_purity(path, lines):
    folder = folder_of(path)
    if folder not in PURE:
        return
    for number, line in enumerate(lines, 1):
        header = INCLUDE.match(line) and IMPURE_HEADER.search(line)
        if header:
            yield Finding(path, number, f"{folder} does no I/O, reads no clock and starts no thread: {header.group(0)}")
        call = IMPURE_CALL.search(code_of(line))
        if call:
            yield Finding(path, number, f"{folder} does no I/O, reads no clock and starts no thread: {call.group(0)}")


def commented(lines, number, word):
    """Returns whether a comment on line `number` (1-based), or up to COMMENT_REACH lines above it, contains `word`."""
    near = lines[max(0, number - 1 - COMMENT_REACH):number]
    return any(word in line.split("//", 1)[1] for line in near if "//" in line)


def arguments_from(lines, number, column):
    """Returns the text between the parenthesis at `column` of line `number` (1-based) and its partner, at most 10 lines
    on."""
    depth, text = 0, ""
    for offset, line in enumerate(lines[number - 1:number + 9]):
        for character in code_of(line)[column if offset == 0 else 0:]:
            depth += {"(": 1, ")": -1}.get(character, 0)
            if depth == 0:
                return text[1:]
            text += character
    return text[1:]


def check_orders(path, lines, sibling):
    if path.startswith("tests/"):
        return  # a test may use the strongest order
    text = "\n".join(lines)
    if "atomic" not in text and "atomic" not in sibling:
        return
    for number, line in enumerate(lines, 1):
        code = code_of(line)
        for call in ATOMIC_CALL.finditer(code):
            if not re.search(r"memory_order|\border\b", arguments_from(lines, number, call.end() - 1)):
                yield Finding(path, number, f"{call.group(1)}() without a memory order: say which, and why")
        if "memory_order_relaxed" in code and not commented(lines, number, "relaxed"):
            yield Finding(path, number, "a relaxed access says why: // relaxed: ...")
        if "memory_order_seq_cst" in code and not commented(lines, number, "seq_cst"):
            yield Finding(path, number, "seq_cst has a reason: // seq_cst: ...")
        if re.search(r"memory_order_(acquire|release|acq_rel)", code) and not commented(lines, number, "PAIR "):
            yield Finding(path, number, "an acquire or release names its other half: // PAIR name: release here -> acquire in X::f()")
    members = set(ATOMIC_MEMBER.findall(text)) | set(ATOMIC_MEMBER.findall(sibling))
    for member in sorted(members):
        operator = re.compile(rf"(\+\+|--)\s*{member}\b|\b{member}\s*(\+\+|--)|"
                              rf"(?:^\s*|[;{{}}()]\s*|->|\.){member}\s*[-+|&^]?=(?!=)")
        for number, line in enumerate(lines, 1):
            code = code_of(line)
            if operator.search(code) and "std::atomic" not in code:
                yield Finding(path, number, f"{member} is atomic: an operator hides its memory order")


def check_writes(path, lines):
    """Checks that no write of the library ends a process by SIGPIPE."""
    if not path.startswith(("orb/", "services/", "examples/")):
        return
    for number, line in enumerate(lines, 1):
        code = code_of(line)
        for call in SOCKET_WRITE.finditer(code):
            arguments = arguments_from(lines, number, call.end() - 1)
            count = len(re.sub(r"\([^()]*\)|\{[^{}]*\}|<[^<>]*>", "", arguments).split(","))
            if count == SOCKET_ARGUMENTS[call.group(1)] and not re.search(r"MSG_NOSIGNAL|\bflags\b", arguments):
                yield Finding(path, number, f"{call.group(1)}() without MSG_NOSIGNAL: SIGPIPE may end the process")
        stream = STANDARD_STREAM.search(code)
        if path.startswith("orb/") and stream and path not in WRITES_TO_STREAMS:
            yield Finding(path, number, f"{stream.group(0)}: the library says what it has to say through orb/os/log.h")


def check_header(path, lines):
    if not path.endswith(".h"):
        return
    code = next((line for line in lines if line.strip() and not line.lstrip().startswith("//")), "")
    if code.strip() != "#pragma once":
        yield Finding(path, 1, "a header begins with its comment and #pragma once")
    for number, line in enumerate(lines, 1):
        if line.startswith("using namespace "):
            yield Finding(path, number, "no using-directive at the top of a header")


def check_own_header(path, lines, files):
    """Checks that a .cpp includes its own header first, which shows that the header compiles alone.
    cmake/CorelaneTargets.cmake verifies only headers without a .cpp. The header may be a public one above the room."""
    if not path.startswith(("orb/", "idl/")) or not path.endswith(".cpp"):
        return
    folder, room = room_of(path)
    beside, above = path[:-4] + ".h", f"{folder}/{os.path.basename(path)[:-4]}.h"
    own = beside if room is None or beside in files else above
    if own not in files:
        return
    number, _, first = next(includes_of(lines), (1, "", ""))
    if first != own:
        yield Finding(path, number, f'include "{own}" first: that shows that it stands alone')


def reached(path, files, memo):
    """Returns the headers of other libraries that path includes, directly or through this project's files."""
    if path not in memo:
        memo[path] = set()  # ends a cycle
        found = set()
        for _, bracket, name in includes_of(files[path]):
            found |= reached(name, files, memo) if name in files else {name, *BRINGS.get(name, [])}
        memo[path] = found
    return memo[path]


def check_standard_headers(path, lines, files, memo):
    """Checks that a file includes the standard headers that it uses, directly or through a file of this project."""
    if "/golden/" in path:
        return  # generated: orb/generated.h provides them
    have = reached(path, files, memo)
    for header, pattern in STANDARD.items():
        if header in have:
            continue
        number = next((number for number, line in enumerate(lines, 1) if pattern.search(code_of(line))), None)
        if number:
            yield Finding(path, number, f"{pattern.search(code_of(lines[number - 1])).group(0)} without #include <{header}>")


def check_length(path, lines):
    if len(lines) > LONG_FILE and "/golden/" not in path:
        yield Finding(path, len(lines), f"{len(lines)} lines; files stay near 400", True)


def check_tests(path, lines):
    if not path.startswith("tests/"):
        return
    text = "\n".join(lines)
    for match in TEST_NAME.finditer(text):
        name = match.group(1)
        if re.search(r"[;\\\[\]]", name) or name.startswith("-"):
            number = text.count("\n", 0, match.start()) + 1
            yield Finding(path, number, f'Catch2 and CTest cannot select "{name}": no ; \\ [ ] and no dash in front')
    for number, line in enumerate(lines, 1):
        if SLEEP.search(code_of(line)) and not commented(lines, number, "sleep:"):
            yield Finding(path, number, "a test waits for an event, not for time (// sleep: why, where it must)")


def check_literals(path, lines):
    """Finds strings that the formatter has broken: it never joins the rest with what follows."""
    if path.startswith("tests/"):
        return
    for number in range(1, len(lines) - 1):
        is_between = lines[number - 1].rstrip().endswith('"') and lines[number + 1].lstrip().startswith('"')
        if is_between and LONE_WORD.match(lines[number]):
            yield Finding(path, number + 1, "one word of a string on a line of its own; begin the next piece with it")


def check_private_paths(path, lines):
    for number, line in enumerate(lines, 1):
        match = PRIVATE_PATH.search(line)
        if match:
            yield Finding(path, number, f"{match.group(0)} means nothing to a reader of this project")


def check_named_files(path, lines, files):
    """Checks that a document names only files that exist."""
    if not path.endswith(".md"):
        return
    for number, line in enumerate(lines, 1):
        for name in NAMED_FILE.findall(line):
            if name not in files:
                yield Finding(path, number, f"there is no {name}")


def check_pairs(files):
    """Checks that each PAIR name appears at least at both ends."""
    places = {}
    for path, lines in files.items():
        for number, line in enumerate(lines, 1):
            for name in PAIR.findall(line) if path.endswith((".h", ".cpp")) else []:
                places.setdefault(name, []).append((path, number))
    for name, where in sorted(places.items()):
        if len(where) < 2:
            yield Finding(*where[0], f"PAIR {name} has no other half")


# ---- Files --------------------------------------------------------------------------------------------------------------


def tracked(root):
    """Returns the files that git tracks or would track; every file below root if git does not answer."""
    try:
        out = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             check=True, capture_output=True).stdout
        return sorted(name for name in out.decode().split("\0") if name)
    except (OSError, subprocess.CalledProcessError):
        found = (os.path.relpath(os.path.join(base, name), root) for base, folders, names in os.walk(root)
                 if not {".git", "build"} & set(os.path.relpath(base, root).split(os.sep)) for name in names)
        return sorted(found)


def read(root, path):
    try:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            return file.read().splitlines()
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return None  # binary, or removed but not yet committed


def sibling_of(path, files):
    """Returns the text of a .cpp file's header: its atomic members are used in the .cpp."""
    return "\n".join(files.get(path[:-4] + ".h", [])) if path.endswith(".cpp") else ""


def lint(root):
    files = {path: lines for path in tracked(root) if (lines := read(root, path)) is not None}
    findings, memo = [], {}
    for path, lines in files.items():
        findings += check_private_paths(path, lines)
        findings += check_named_files(path, lines, files)
        findings += [Finding(path, *found) for found in check_language(path, lines)]
        if not (path.startswith(CODE_FOLDERS) and path.endswith((".h", ".cpp"))):
            continue
        findings += check_includes(path, lines)
        findings += check_rooms(path, lines)
        findings += check_foreign(path, lines)
        findings += check_mutexes(path, lines)
        findings += check_purity(path, lines)
        findings += check_orders(path, lines, sibling_of(path, files))
        findings += check_writes(path, lines)
        findings += check_header(path, lines)
        findings += check_own_header(path, lines, files)
        findings += check_standard_headers(path, lines, files, memo)
        findings += check_length(path, lines)
        findings += check_literals(path, lines)
        findings += check_tests(path, lines)
    findings += check_pairs(files)
    findings += check_doors(files)
    findings += check_foreign_exceptions(files)
    findings += check_settings(files)
    findings += check_used(files)
    findings += check_folders(files)
    return len(files), findings


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    count, findings = lint(root)
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {'warning' if finding.warning else 'error'}: {finding.message}")
    errors = sum(not finding.warning for finding in findings)
    print(f"lint: {count} files, {errors} errors, {len(findings) - errors} warnings")
    return 1 if errors or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
