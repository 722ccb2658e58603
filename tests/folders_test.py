#!/usr/bin/env python3
"""Tests of which tests `./dev test FOLDER...` chooses, on a small tree and a table as CMake writes it."""
import os
import tempfile
import unittest

import folders

TABLE = """\
orb/cdr unit corelane_cdr_test
orb/core concurrent corelane_core_test
services/nameserver concurrent corelane_services_nameserver_test
services/nameserver/stores concurrent corelane_services_nameserver_stores_test
attack programs corelane_attack_test
fuzz unit corelane_fuzz_any
fuzz unit corelane_fuzz_idl
lint programs
"""
FILES = {
    "tests/orb/cdr/reader_test.cpp": "",
    "tests/orb/core/server_test.cpp": "",
    "tests/orb/core/invocation_test.cpp": '#include "tests/support/invocation_suite.h"\n',
    "tests/orb/core/server/memory_test.cpp": "",
    "tests/orb/core/server/shed_test.cpp": "",
    "tests/attack/hogs_test.cpp": "",
    "build/tests/folders.txt": TABLE,
}


def chosen(*paths, labels=""):
    """Returns the targets and the pattern of these paths, in the tree of FILES."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as root:
        os.chdir(root)
        try:
            for path, text in FILES.items():
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return folders.select_all(folders.read_table("build"), labels, paths)
        finally:
            os.chdir(here)


class Folders(unittest.TestCase):
    def refuses(self, word, *paths, **more):
        with self.assertRaises(folders.NoTests) as refusal:
            chosen(*paths, **more)
        self.assertIn(word, str(refusal.exception))

    def test_a_folder_is_its_program_and_all_tests_of_its_name(self):
        self.assertEqual(chosen("orb/cdr"), (["corelane_cdr_test"], "^orb/cdr: "))

    def test_a_folder_has_the_same_tests_however_it_is_written(self):
        for path in ("tests/orb/cdr", "orb/cdr/", "./tests//orb/cdr/"):
            self.assertEqual(chosen(path), chosen("orb/cdr"))

    def test_a_folder_includes_the_folders_below_it(self):
        targets = ["corelane_services_nameserver_test", "corelane_services_nameserver_stores_test"]
        self.assertEqual(chosen("services"), (targets, "^services/nameserver: |^services/nameserver/stores: "))

    def test_a_folder_has_all_its_programs(self):
        self.assertEqual(chosen("fuzz"), (["corelane_fuzz_any", "corelane_fuzz_idl"], "^fuzz: "))

    def test_a_folder_without_programs_builds_nothing(self):
        self.assertEqual(chosen("tests/lint"), ([], "^lint: "))

    def test_a_room_is_the_files_in_it(self):
        expected = ["corelane_core_test"], "^orb/core: memory_test$|^orb/core: shed_test$"
        self.assertEqual(chosen("orb/core/server"), expected)

    def test_a_file_is_one_test(self):
        expected = ["corelane_core_test"], "^orb/core: memory_test$"
        self.assertEqual(chosen("tests/orb/core/server/memory_test.cpp"), expected)

    def test_a_file_of_the_product_has_the_test_that_mirrors_it(self):
        for file in ("orb/cdr/reader.h", "orb/cdr/reader.cpp"):
            self.assertEqual(chosen(file), (["corelane_cdr_test"], "^orb/cdr: reader_test$"))

    def test_a_file_with_a_suite_brings_the_cases_of_headers(self):
        self.assertEqual(chosen("tests/orb/core/invocation_test.cpp")[1], "^orb/core: invocation_test$|^orb/core: suites$")

    def test_a_file_of_a_program_whose_cases_are_tests_is_its_folder(self):
        self.assertEqual(chosen("tests/attack/hogs_test.cpp"), (["corelane_attack_test"], "^attack: "))

    def test_several_paths_are_chosen_together_and_nothing_twice(self):
        expected = ["corelane_cdr_test", "corelane_core_test"], "^orb/cdr: |^orb/core: memory_test$"
        self.assertEqual(chosen("orb/cdr", "orb/core/server/memory.h", "tests/orb/cdr"), expected)

    def test_labels_leave_out_what_other_builds_run(self):
        self.assertEqual(chosen("orb/cdr", labels="^unit$"), chosen("orb/cdr"))
        self.refuses("orb/cdr has no tests in this build", "orb/cdr", labels="^concurrent$")

    def test_a_refusal_names_the_folders_that_are_possible(self):
        self.refuses("services/nameserver services/nameserver/stores", "orb/corba", labels="^concurrent$")

    def test_a_folder_or_file_without_tests_of_its_own_is_refused_with_the_folder_above(self):
        self.refuses("`./dev test orb/core` runs", "orb/core/objects")
        self.refuses("`./dev test orb/cdr` runs", "orb/cdr/writer.h")

    def test_a_part_of_a_name_is_no_folder(self):
        self.refuses("has no tests in this build", "orb/cd")


if __name__ == "__main__":
    unittest.main()
