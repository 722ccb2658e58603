#!/usr/bin/env python3
"""Tests of the lint: small trees that break one rule each, and similar trees that keep it."""
import os
import re
import tempfile
import unittest
from unittest import mock

import lint


def errors_in(files, uses_headers=True):
    """Returns the errors that lint finds in a tree of these files, as "path:line" and message. If uses_headers, another
    file includes every header of the tree."""
    if uses_headers:
        headers = [path for path in files if path.endswith(".h")]
        files = {"tests/uses_headers.cpp": "".join(f'#include "{path}"\n' for path in headers), **files}
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return [(f"{f.path}:{f.line}", f.message) for f in lint.lint(root)[1] if not f.warning]


class Lint(unittest.TestCase):
    def accepts(self, path, text, **more):
        self.assertEqual(errors_in({path: text, **more}), [])

    def refuses(self, path, text, place, word, **more):
        found = errors_in({path: text, **more})
        self.assertTrue(any(where == f"{path}:{place}" and word in message for where, message in found), found)

    def test_an_include_may_point_down(self):
        self.accepts("orb/giop/a.cpp", '#include "orb/cdr/reader.h"\n#include "orb/base/bytes.h"\n')

    def test_an_include_may_stay_in_its_folder(self):
        self.accepts("orb/cdr/a.cpp", '#include "orb/cdr/reader.h"\n')

    def test_an_include_must_not_point_up(self):
        self.refuses("orb/cdr/a.cpp", '// why\n#include "orb/giop/header.h"\n', 2, "must not include orb/giop/header.h")

    def test_an_include_must_not_point_sideways(self):
        self.refuses("orb/dispatch/a.cpp", '#include "orb/transport/tcp/tcp.h"\n', 1, "must not include")

    def test_leader_followers_may_include_transport(self):
        self.accepts("orb/leader_followers/a.cpp", '#include "orb/transport/tcp/tcp.h"\n')

    def test_a_refusal_says_what_is_allowed(self):
        self.refuses("orb/os/a.cpp", '#include "orb/core/orb.h"\n', 1, "allowed: layers below 1")

    def test_a_folder_outside_the_table_is_refused(self):
        self.refuses("orb/new_one/a.cpp", '#include "orb/base/time.h"\n', 1, "not in the layer table")

    def test_a_room_may_include_lower_rooms_and_public_headers(self):
        self.accepts("orb/dispatch/cores/a.cpp", '#include "orb/dispatch/job.h"\n#include "orb/dispatch/queue/inbox.h"\n')
        self.accepts("orb/dispatch/cores/a.cpp", '#include "orb/dispatch/cores/b.h"\n')

    def test_a_room_must_not_include_a_higher_one(self):
        self.refuses("orb/dispatch/queue/a.h", '#pragma once\n#include "orb/dispatch/cores/core_pool.h"\n', 2,
                     "allowed: the headers at the top of orb/dispatch")

    def test_an_exception_between_rooms_is_listed_and_used(self):
        with mock.patch.dict(lint.ROOM_EXCEPTIONS, {("orb/os/wait/a.h", "orb/os/files/b.h"): "a test"}):
            self.accepts("orb/os/wait/a.h", '#pragma once\n#include "orb/os/files/b.h"\n')
            self.refuses("orb/os/wait/a.h", "#pragma once\n", 1, "remove that from ROOM_EXCEPTIONS")

    def test_a_public_header_includes_no_room_and_a_source_beside_it_any(self):
        self.refuses("orb/core/a.h", '#pragma once\n#include "orb/core/types/b.h"\n', 2, "a public header includes no room")
        self.accepts("orb/core/a.cpp", '#include "orb/core/types/b.h"\n')

    def test_another_folder_includes_public_headers_and_what_is_listed(self):
        door = lint.EXPORTED["orb/os"][0]
        self.accepts("orb/core/a.cpp", f'#include "orb/os/clock.h"\n#include "orb/os/{door}"\n')
        self.accepts("tests/orb/core/a_test.cpp", '#include "orb/os/files/hidden.h"\n')
        self.refuses("orb/core/a.cpp", '#include "orb/os/files/hidden.h"\n', 1, "EXPORTED")
        self.refuses(f"orb/os/{door}", "#pragma once\n", 1, "remove it from EXPORTED")

    def test_the_compiler_and_the_services_have_rooms_too(self):
        self.accepts("idl/cxx/files/a.cpp", '#include "idl/cxx/spelling/b.h"\n')
        self.refuses("idl/cxx/spelling/a.cpp", '#include "idl/cxx/files/b.h"\n', 1, "headers at the top of idl/cxx")
        self.refuses("services/nameserver/a.cpp", '#include "services/nameserver/stores/etcd/b.h"\n', 1, "EXPORTED")
        self.refuses("services/corelane/host/a.cpp", '#include "services/corelane/top/b.h"\n', 1, "must not include")

    def test_a_room_is_in_the_table(self):
        self.refuses("orb/os/new_one/a.cpp", "int x;\n", 1, "not in the table of rooms")

    def test_a_new_transport_is_a_room_without_a_line_in_the_table(self):
        self.accepts("orb/transport/rdma/a.cpp", '#include "orb/transport/detail/b.h"\n')
        self.refuses("orb/transport/rdma/a.cpp", '#include "orb/transport/tcp/b.h"\n', 1, "must not include")

    def test_the_rooms_of_a_folder_include_one_another_in_one_direction(self):
        for folder, rooms in lint.ROOMS.items():
            order = list(rooms)
            for room, allowed in rooms.items():
                self.assertLessEqual(set(allowed), set(order[:order.index(room)]), f"{folder}/{room}")

    def test_a_header_that_nothing_includes_is_refused(self):
        def unused(files):
            return [place for place, message in errors_in(files, uses_headers=False) if "nothing includes it" in message]

        header, own = {"orb/os/a.h": "#pragma once\n"}, {"orb/os/a.cpp": '#include "orb/os/a.h"\n'}
        self.assertEqual(unused(header), ["orb/os/a.h:1"])
        self.assertEqual(unused({**header, **own}), ["orb/os/a.h:1"])
        self.assertEqual(unused({**header, "orb/os/b.cpp": '#include "orb/os/a.h"\n'}), [])
        self.assertEqual(unused({**header, "tests/orb/os/a_test.cpp": '#include "orb/os/a.h"\n'}), [])
        self.assertEqual(unused({"tests/support/a.h": "#pragma once\n"}), [])

    def test_generated_code_uses_headers_as_well(self):
        writer = r'''void f() { line("#include \"orb/corba/$0.h\"\n#include \"orb/corba/b.h\""); headers.insert("a"); }'''
        files = {f"orb/corba/{name}.h": "#pragma once\n" for name in "abc"}
        found = errors_in({**files, "idl/cxx/writer.cpp": writer + "\n"}, uses_headers=False)
        self.assertEqual([place for place, _ in found], ["orb/corba/c.h:1"])

    def test_only_the_baseline_includes_ace(self):
        self.accepts("orb/leader_followers/a.cpp", "#include <ace/Reactor.h>\n")
        self.accepts("bench/peers/ace/a.cpp", "#include <ace/Reactor.h>\n")
        for path in ("orb/core/a.cpp", "orb/os/wait/a.h", "services/a.cpp", "examples/a.cpp", "tests/orb/core/a_test.cpp"):
            self.refuses(path, "#pragma once\n#include <ace/Reactor.h>\n", 2, "includes ACE; only these may")
        self.accepts("orb/core/a.cpp", "// ACE waits\n#include <acer/a.h>\n")

    def test_only_the_nameserver_names_etcd(self):
        self.accepts("services/nameserver/stores/a.cpp", "// etcd\nint etcd_port;\n")
        self.accepts("tests/orb/core/a_test.cpp", "int etcd_port;\n")
        for path in ("orb/core/a.cpp", "services/corelane/a.cpp", "idl/tool/a.cpp"):
            self.refuses(path, "// one\nint etcd_port;\n", 2, "names etcd; only these may: services/nameserver/")
            self.refuses(path, "// Etcd\n", 1, "names etcd")

    def test_an_exception_from_that_is_listed_and_used(self):
        with mock.patch.dict(lint.FOREIGN_EXCEPTIONS, {("names etcd", "orb/core/a.h"): "a test"}):
            self.accepts("orb/core/a.h", "#pragma once\n// etcd\n")
            self.refuses("orb/core/a.h", "#pragma once\n", 1, "remove that from FOREIGN_EXCEPTIONS")

    def test_a_mutex_of_the_library_is_one_that_clang_checks(self):
        text = "#pragma once\n#include <mutex>\nclass A {\n  mutable std::mutex mutex_;\n};\n"
        for folder in ("orb/dispatch", "orb/os", "services/reserved", "orb/new_folder"):
            self.refuses(f"{folder}/a.h", text, 4, "take os::Mutex")
        self.accepts("orb/dispatch/a.h", text.replace("std::mutex", "os::Mutex"))
        self.accepts("orb/dispatch/a.h", "#pragma once\n#include <mutex>\nvoid take(std::unique_lock<std::mutex> lock);\n")
        self.accepts("orb/os/mutex.h", text)
        self.accepts("examples/a.h", text)

    def test_orb_core_names_no_setting_of_a_service(self):
        table = {"services/a/settings.cpp": '      {"naming.store", "",\n      {"naming.writers",\n'}
        self.accepts("orb/core/a.cpp", '// naming.socket and naming.stores\nint naming = store;\n', **table)
        self.accepts("orb/base/a.cpp", "// naming.store\n", **table)
        self.accepts("services/a/b.cpp", "// naming.store\n", **table)
        self.accepts("orb/core/a.cpp", "// naming.store\n")
        self.refuses("orb/core/a.cpp", "// see\n// naming.store: none\n", 2, "must not name naming.store", **table)
        self.refuses("orb/core/config/a.h", '#pragma once\nf("naming.writers");\n', 2, "naming.writers", **table)

    def test_a_full_folder_is_a_warning(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "orb/os"))
            for number in range(lint.FULL_FOLDER + 1):
                with open(os.path.join(root, f"orb/os/a{number}.cpp"), "w", encoding="utf-8"):
                    pass
            found = lint.lint(root)[1]
            self.assertEqual([(f.path, f.warning) for f in found], [("orb/os", True)])

    def test_the_compiler_never_includes_the_runtime(self):
        self.refuses("idl/tool/main.cpp", '#include "orb/base/error.h"\n', 1, "allowed: idl/tool, idl/front")

    def test_the_front_end_does_not_know_the_model(self):
        self.refuses("idl/front/a.cpp", '#include "idl/model/model.h"\n', 1, "allowed: idl/front, idl/ast")

    def test_sema_joins_tree_and_model(self):
        self.accepts("idl/sema/a.cpp", '#include "idl/ast/ast.h"\n#include "idl/model/model.h"\n')

    def test_an_include_without_its_path_is_refused(self):
        self.refuses("orb/cdr/a.cpp", '#include "reader.h"\n', 1, "path from the root")

    def test_an_example_may_include_generated_headers(self):
        self.accepts("examples/pendulum/a.cpp", '#include "plantC.h"\n#include "orb/corba/orb.h"\n')

    def test_an_example_may_use_a_service_through_its_client_alone(self):
        self.accepts("examples/pendulum/a.cpp", '#include "services/nameserver/client/registration.h"\n')
        self.refuses("examples/pendulum/a.cpp", '#include "services/nameserver/start.h"\n', 1, "must not include")

    def test_pure_folders_start_no_thread(self):
        self.refuses("orb/sched/a.cpp", "#include <thread>\n", 1, "no thread")

    def test_pure_folders_read_no_clock(self):
        self.refuses("orb/giop/a.cpp", "auto t = std::chrono::steady_clock::now();\n", 1, "steady_clock")

    def test_pure_folders_read_no_file(self):
        self.refuses("idl/front/a.cpp", "#include <fstream>\n", 1, "<fstream>")

    def test_only_the_tool_of_the_compiler_reads_files(self):
        self.accepts("idl/tool/a.cpp", "#include <fstream>\n#include <filesystem>\n")

    def test_a_clock_in_a_comment_is_no_clock(self):
        self.accepts("orb/giop/a.cpp", "// unlike steady_clock\n")

    def test_a_load_without_order_is_refused(self):
        self.refuses("orb/os/a.cpp", "std::atomic<int> x;\nint f() { return x.load(); }\n", 2, "without a memory order")

    def test_a_store_without_order_is_refused_over_several_lines(self):
        self.refuses("orb/os/a.cpp", "std::atomic<int> x;\nvoid f() {\n  x.store(\n      g(1, 2));\n}\n", 3, "store()")

    def test_an_operator_on_an_atomic_member_of_the_header_is_refused(self):
        self.refuses("orb/os/a.cpp", '#include "orb/os/a.h"\nvoid A::f() { ++count_; }\n', 2, "an operator hides",
                     **{"orb/os/a.h": "#pragma once\nstruct A { std::atomic<int> count_{0}; };\n"})

    def test_a_local_of_the_name_of_an_atomic_member_is_another_thing(self):
        header = {"orb/os/a.h": "#pragma once\n#include <atomic>\nstruct A { std::atomic<int> count{0}; };\n"}
        own = '#include "orb/os/a.h"\n'
        self.accepts("orb/os/a.cpp", own + "void f() {\n  auto count = 1;\n  int more = count;\n}\n", **header)
        self.refuses("orb/os/a.cpp", own + "void A::f() {\n  count = 1;\n}\n", 3, "an operator hides", **header)

    def test_a_relaxed_access_says_why(self):
        text = "#include <atomic>\nstd::atomic<int> x;\n{}int f() {{ return x.load(std::memory_order_relaxed); }}\n"
        self.refuses("orb/os/a.cpp", text.format(""), 3, "relaxed access says why")
        self.accepts("orb/os/a.cpp", text.format("// relaxed: a statistic\n"))

    def test_seq_cst_has_a_reason(self):
        text = "#include <atomic>\nstd::atomic<int> x;\n{}int f() {{ return x.load(std::memory_order_seq_cst); }}\n"
        self.refuses("orb/os/a.cpp", text.format(""), 3, "seq_cst has a reason")
        self.accepts("orb/os/a.cpp", text.format("// seq_cst: against the store in g()\n"))

    def test_an_acquire_names_its_pair(self):
        self.refuses("orb/os/a.cpp", "std::atomic<int> x;\nint f() { return x.load(std::memory_order_acquire); }\n", 2,
                     "names its other half")

    def test_a_pair_has_two_ends(self):
        one = "// PAIR x.ready: acquire here <- release in g().\n"
        self.refuses("orb/os/a.cpp", one, 1, "PAIR x.ready has no other half")
        self.accepts("orb/os/a.cpp", one, **{"orb/os/b.cpp": "// PAIR x.ready: release here -> acquire in f().\n"})

    def test_a_write_to_a_socket_raises_no_signal(self):
        self.accepts("orb/os/a.cpp", "void f() { send(fd, bytes.data(), f(1, 2), MSG_NOSIGNAL | MSG_DONTWAIT); }\n")
        self.accepts("orb/os/a.cpp", "void f() { channel.send(a, b, c, d); send(message); }\n")
        self.refuses("orb/os/a.cpp", "\nvoid f() { ::send(fd, data, g(1, 2), 0); }\n", 2, "without MSG_NOSIGNAL")
        self.refuses("services/a.cpp", "void f() {\n  return sendmsg(fd, &message,\n                 MSG_DONTWAIT);\n}\n", 2,
                     "sendmsg() without MSG_NOSIGNAL")

    def test_the_library_writes_to_the_log_alone(self):
        self.refuses("orb/core/a.cpp", '#include <iostream>\nvoid f() { std::cerr << "x"; }\n', 2, "through orb/os/log.h")
        self.refuses("orb/core/a.cpp", 'void f() { std::fprintf(stderr, "x"); }\n', 1, "through orb/os/log.h")
        self.accepts("services/a.cpp", '#include <iostream>\nvoid f() { std::cerr << "x"; }\n')

    def test_a_header_has_pragma_once(self):
        self.refuses("orb/os/a.h", "// What it is.\n#include <span>\n", 1, "#pragma once")
        self.accepts("orb/os/a.h", "// What it is.\n#pragma once\n#include <span>\n")

    def test_a_source_includes_its_own_header_first(self):
        header = {"orb/os/a.h": "#pragma once\n"}
        self.refuses("orb/os/a.cpp", '#include <span>\n\n#include "orb/os/a.h"\n', 1, "stands alone", **header)
        self.refuses("orb/os/a.cpp", "int x;\n", 1, "stands alone", **header)
        self.accepts("orb/os/a.cpp", '// why\n#include "orb/os/a.h"\n\n#include <span>\n', **header)
        self.accepts("orb/os/b.cpp", "#include <span>\n", **header)
        self.refuses("orb/os/wait/a.cpp", "int x;\n", 1, "stands alone", **header)

    def test_what_is_used_of_the_standard_library_is_included(self):
        use = "std::vector<int> x;\n"
        self.refuses("orb/os/a.cpp", use, 1, "std::vector< without #include <vector>")
        self.refuses("orb/os/a.cpp", "#include <string>\nvoid f(std::span<int>);\n", 2, "#include <span>")
        self.accepts("orb/os/a.cpp", "#include <vector>\n" + use)
        self.accepts("orb/os/a.cpp", "// a std::vector<int>\n")
        self.accepts("orb/os/a.cpp", '#include "orb/os/b.h"\n' + use, **{
            "orb/os/b.h": '#pragma once\n#include "orb/os/c.h"\n', "orb/os/c.h": "#pragma once\n#include <vector>\n"})

    def test_a_header_opens_no_namespace_to_its_users(self):
        self.refuses("orb/os/a.h", "#pragma once\nusing namespace std;\n", 2, "using-directive")

    def test_a_test_name_that_the_runner_cannot_select_is_refused(self):
        self.refuses("tests/orb/os/a_test.cpp", 'TEST_CASE("a; b") {}\n', 1, "cannot select")
        self.refuses("tests/orb/os/a_test.cpp", 'TEST_CASE(\n    "one [two]") {}\n', 1, "cannot select")

    def test_a_test_does_not_sleep(self):
        self.refuses("tests/orb/os/a_test.cpp", "std::this_thread::sleep_for(1ms);\n", 1, "waits for an event")
        self.accepts("tests/orb/os/a_test.cpp",
                     "#include <thread>\n// sleep: the kernel frees it late\nstd::this_thread::sleep_for(1ms);\n")

    def test_a_string_has_no_line_of_one_word(self):
        pieces = 'const char* const text =\n    "one two "\n    "three "\n    "four";\n'
        self.refuses("orb/os/a.cpp", pieces, 3, "one word of a string")
        self.accepts("tests/orb/os/a_test.cpp", pieces)
        self.accepts("orb/os/a.cpp", pieces.replace("three ", "three four "))
        self.accepts("orb/os/a.cpp", 'const char* const text =\n    "one two "\n    "three";\n')

    def test_a_private_path_is_found_in_any_file(self):
        self.refuses("docs/a.md", "see /wor" + "k/main\n", 1, "means nothing")
        self.refuses("docs/a.md", "see share" + "d/design.md\n", 1, "means nothing")
        self.accepts("docs/a.md", "a framework/works, network/worker, shared/memory\n")

    def test_a_document_names_files_that_are_there(self):
        self.refuses("docs/a.md", "see `orb/os/gone.h`\n", 1, "there is no orb/os/gone.h")
        self.accepts("docs/a.md", "see `orb/os/a.h`\n", **{"orb/os/a.h": "#pragma once\n"})

    def test_a_thing_is_not_called_he(self):
        for text in ("// The peer and his socket.\n", "int x;  // He waits.\n", 'auto x = "whom it serves";\n',
                     'auto x = "one part "\n         "of him";\n', "/* he */\n", 'auto x = R"(\nhe\n)";\n'):
            self.refuses("orb/os/a.cpp", text, text.count("\n", 0, re.search(r"\b([Hh]e|his|him|whom)\b", text).start()) + 1,
                         "of a thing")
        self.refuses("tests/orb/os/a_test.cpp", 'TEST_CASE("a peer that has his reply") {}\n', 1, '"his" of a thing')
        self.refuses("tests/a.py", '"""Asks.\n\nwhoever he is."""\n', 3, '"he" of a thing')
        self.refuses("tests/a.py", "x = 1  # he\n", 1, '"he" of a thing')
        self.refuses("orb/os/CMakeLists.txt", "# What he needs.\n", 1, '"he" of a thing')
        self.refuses("dev", "x=1\n# he\n", 2, '"he" of a thing')
        self.refuses("docs/a.md", "one\nhe\n", 2, '"he" of a thing')
        self.accepts("orb/os/a.cpp", "int he = 1'000;  // the `he` of \"the\"\n")
        self.accepts("docs/a.md", "`he`\n\n```\nhe\n```\n\n    he\n\n| he |\n|---|\n")

    def test_a_sentence_begins_with_what_acts(self):
        self.refuses("orb/os/a.h", "// Ends.\n// Who waits is told.\n#pragma once\n", 2, 'begins with "Who"')
        self.refuses("orb/os/a.h", "// Ends it. Who waits is told.\n#pragma once\n", 1, 'begins with "Who"')
        self.refuses("orb/os/a.cpp", 'auto x = "Whoever waits is told";\n', 1, 'begins with "Whoever"')
        self.refuses("docs/a.md", "## Who may\n", 1, 'begins with "Who"')
        self.refuses("tests/orb/os/a_test.cpp", 'TEST_CASE(\n    "who waits is told") {}\n', 2, 'begins with "who"')
        self.accepts("docs/a.md", "Who may do that? Those who wait.\n")
        self.accepts("orb/os/a.cpp", 'auto x = "who" + of("a user who waits");  // which user? who reads\n')

    def test_a_metaphor_stays_out(self):
        self.refuses("orb/os/a.cpp", "// Takes\n// the newcomer.\n", 2, "say new task")
        self.refuses("docs/a.md", "- glances at it\n", 1, "say poll")
        self.refuses("tests/orb/os/a_test.cpp", 'TEST_CASE("berths go back") {}\n', 1, "say memory")
        self.accepts("orb/os/a.cpp", '// The `newcomer`, glance(), AdmissionCandidate, admission_control.h.\nauto berth = "newcomer";\n')

    def test_a_sentence_of_a_document_is_short(self):
        long = "Word " + "word " * 39 + "word."
        self.refuses("docs/a.md", "One.\n" + long + "\n", 2, "a sentence of 41 words")
        self.refuses("docs/a.md", "- " + "word\n  " * 41 + "\n", 1, "at most 40")
        self.accepts("docs/a.md", long.replace("word ", "", 1) + " " + long.replace("word ", "", 1) + "\n")
        self.accepts("docs/a.md", "word " * 30 + "word. `a.b` " + "word " * 30 + "\n")
        self.accepts("docs/a.md", "- " + "word " * 30 + "\n- " + "word " * 30 + "\n")
        self.accepts("docs/a.md", "| " + long + " |\n|---|\n\n    " + long + "\n\n```\n" + long + "\n```\n")
        self.accepts("orb/os/a.cpp", "// " + long + "\n")

    def test_a_long_file_is_a_warning(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "orb/os"))
            with open(os.path.join(root, "orb/os/a.cpp"), "w", encoding="utf-8") as file:
                file.write("int x;\n" * (lint.LONG_FILE + 1))
            self.assertEqual([f.warning for f in lint.lint(root)[1]], [True])


if __name__ == "__main__":
    unittest.main()
