#!/usr/bin/env python3
"""Tests of how the comparison runs programs, with small scripts in place of servers and clients."""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))

import peers  # noqa: E402
import rows  # noqa: E402
import runs  # noqa: E402

SERVER = """print("READY here", flush=True)
sys.stdin.read()
"""
CLIENT = """words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
print(json.dumps({"calls": 1000, "rate": 50.0, "client_cpu_ns": 3000000, "server_cpu_ns": 2000000, **words}))
"""
GATED = """print("READY gate", flush=True)
sys.stdin.readline()
print(json.dumps({"calls": 1000, "rate": 50.0, "client_cpu_ns": 3000000, "server_cpu_ns": 2000000}))
"""
HOLDING = """words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
if words.get("--load") == "hold":
    with open(words["--notes"], "a") as file: print(words["--threads"], file=file)
    print("READY held", flush=True)
    sys.stdin.read()
print(json.dumps({"calls": 10, "rate": 1.0, "p50_ns": 7, "client_cpu_ns": 1}))
"""


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.started = []
        self.setting = runs.Setting(self.folder.name, sorted(os.sched_getaffinity(0)))

    def program(self, name, text):
        path = os.path.join(self.folder.name, name)
        pids = os.path.join(self.folder.name, "pids")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\nimport json, os, sys\n"
                       f"with open({pids!r}, 'a') as file: print(os.getpid(), file=file)\n{text}")
        os.chmod(path, 0o755)

    def run_row(self, server=SERVER, client=CLIENT, how="pair", count=3, peer=("--flag", "{dir}"), **row):
        if server is not None:
            self.program("server", server)
        self.program("client", client)
        peer = peers.Peer("p", "g", "p", ("server",), ("client",) + peer)
        try:
            return runs.run_once(self.setting, rows.Row("r", "r", ("p",), how=how, count=count, **row), peer, False)
        finally:
            self.assert_all_ended()

    def assert_all_ended(self):
        path = os.path.join(self.folder.name, "pids")
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                for pid in file.read().split():
                    self.assertFalse(os.path.exists(f"/proc/{pid}"), "a process is left behind")

    def failure(self, **arguments):
        with self.assertRaises(runs.Failure) as caught:
            self.run_row(**arguments)
        return str(caught.exception)

    def test_a_client_gets_the_address_the_server_and_the_load(self):
        record = self.run_row(load=("--load", "calls"))
        self.assertEqual((record["--address"], record["--load"]), ("here", "calls"))
        self.assertTrue(record["--server-pid"].isdigit())
        self.assertFalse(os.path.exists(record["--flag"]), "the folder of a run goes with it")

    def test_cpu_time_is_told_for_100000_calls(self):
        self.assertAlmostEqual(self.run_row()["cpu_s"], 0.5)

    def test_the_rates_of_several_processes_are_added(self):
        record = self.run_row(client=GATED, how="processes")
        self.assertEqual((record["calls"], record["rate"]), (3000, 150.0))

    def test_idle_connections_are_shared_among_holders_and_counted(self):
        notes = os.path.join(self.folder.name, "notes")
        record = self.run_row(client=HOLDING, how="idle", count=5500, peer=("--notes", notes), load=("--load", "calls"))
        with open(notes, encoding="ascii") as file:
            self.assertEqual(file.read().split(), ["2500", "2500", "500"])
        self.assertEqual((record["connections"], record["p50_ns"], record["p50_before_ns"]), (5500, 7, 7))
        self.assertLessEqual({"rss_kib", "kernel_kib"}, set(record))

    def test_a_crowd_that_cannot_connect_is_a_failure(self):
        client = 'print(json.dumps({"error": "connect: refused"}))'
        self.assertEqual(self.failure(client=client, how="idle", count=5), "connect: refused")

    def test_an_error_that_a_client_reports_is_the_failure(self):
        self.assertEqual(self.failure(client='print(json.dumps({"error": "TRANSIENT"}))'), "TRANSIENT")

    def test_an_error_that_a_server_reports_is_the_failure(self):
        self.assertEqual(self.failure(server='print(json.dumps({"error": "no port"}))'), "no port")

    def test_a_client_that_dies_is_a_failure_with_its_last_words(self):
        self.assertEqual(self.failure(client='sys.exit("out of memory")'), "client ended with 1: out of memory")

    def test_a_client_that_says_something_else_is_a_failure(self):
        self.assertEqual(self.failure(client='print("hello")'), "client said 'hello' instead of its result")

    def test_a_server_that_dies_is_a_failure_with_its_last_words(self):
        self.assertEqual(self.failure(server='sys.exit("no port")'), "server ended with 1: no port")

    def test_a_program_that_is_not_there_is_a_failure(self):
        self.assertEqual(self.failure(server=None), "server is not there")

    def test_a_server_that_says_nothing_is_a_failure(self):
        limit, runs.START_LIMIT = runs.START_LIMIT, 0.05
        try:
            self.assertEqual(self.failure(server="sys.stdin.read()"), "server said nothing within 0 s")
        finally:
            runs.START_LIMIT = limit

    def test_settings_of_corelane_in_the_environment_do_not_reach_the_programs(self):
        os.environ["CORELANE_CLIENT_WAIT"] = "spin"
        self.addCleanup(os.environ.pop, "CORELANE_CLIENT_WAIT")
        client = 'print(json.dumps({"names": [n for n in os.environ if n.startswith("CORELANE")]}))'
        self.assertEqual(self.run_row(client=client)["names"], [])

    def test_only_programs_of_corelane_come_from_an_older_build(self):
        peer = peers.twin_of(peers.peer_named("corelane-tcp"), "/older")
        with runs.Run(self.setting, rows.row_named("two-way-one"), peer) as run:
            self.assertEqual(run.path_of("corelane-peer-corelane-server"), "/older/corelane-peer-corelane-server")
            self.assertEqual(run.path_of("corelane-peer-bare-client"),
                             os.path.join(self.folder.name, "corelane-peer-bare-client"))

    def test_other_arguments_replace_those_of_the_load(self):
        self.assertEqual(runs.overridden(("--calls", "5", "--rate", "1"), ("--calls", "7")),
                         ("--calls", "7", "--rate", "1"))

    def test_a_row_for_two_cores_needs_two(self):
        self.setting.cores = self.setting.cores[:1]
        self.assertEqual(self.failure(cores="two"), "it needs two cores")

    def test_client_and_server_are_bound_as_the_row_says(self):
        client = 'print(json.dumps({"cores": sorted(os.sched_getaffinity(0))}))'
        self.assertEqual(self.run_row(client=client, cores="one")["cores"], self.setting.cores[:1])
        self.assertEqual(self.run_row(client=client)["cores"], self.setting.cores)


if __name__ == "__main__":
    unittest.main()
