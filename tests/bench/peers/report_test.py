#!/usr/bin/env python3
"""Tests of the comparison's reports, on recorded results (sample.jsonl) that were edited to contain failures."""
import csv
import io
import os
import re
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, sys.argv.pop(1))

import plots  # noqa: E402
import report_csv  # noqa: E402
import report_html  # noqa: E402
import report_markdown  # noqa: E402
import report_text  # noqa: E402
import results  # noqa: E402
import rows  # noqa: E402

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sample.jsonl")


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = results.load(SAMPLE)
        cls.text = report_text.text_of(cls.results)
        cls.page = report_html.html_of(cls.results)

    def test_the_text_has_each_row_once(self):
        for row in rows.ROWS:
            count = 1 if row.name in self.results.rows() else 0
            self.assertEqual(len(re.findall(rf"^{row.name}: {re.escape(row.title)}$", self.text, re.M)), count)

    def test_the_reference_has_the_ratio_1(self):
        line = re.search(r"^two-way-one:.*?^  bare TCP +(\S+)", self.text, re.M | re.S)
        self.assertEqual(line[1], "1.00")

    def test_a_peer_that_failed_in_some_rounds_keeps_the_others_and_says_why(self):
        section = self.text.split("oneway-64: ")[1].split("\n\n")[0]
        self.assertRegex(section, r"(?m)^  Corelane TCP +\d")
        self.assertIn("FAILED Corelane TCP, 1 of 3 rounds: TRANSIENT: no room for a oneway", section)

    def test_a_peer_that_failed_in_all_rounds_has_dashes_and_says_why(self):
        section = self.text.split("throughput-16: ")[1].split("\n\n")[0]
        self.assertRegex(section, r"(?m)^  omniORB Unix, 5 connections( +-)+$")
        self.assertIn('3 of 3 rounds: corelane-peer-omniorb-server ended with 1: <no "place" & no name>', section)

    def test_what_was_left_out_is_named_with_its_reason(self):
        words = "ice: the Debian packages could not be installed"
        self.assertIn(f"left out: {words}", self.text)
        self.assertIn(f"<dt>left out</dt><dd>{words}</dd>", self.page)

    def test_goals_of_rows_that_ran_are_judged_and_counted(self):
        self.assertRegex(self.text, r"two-way-one: corelane-tcp to bare-tcp +<= 1\.12x +\d\.\d\dx +(met|missed)\n")
        self.assertRegex(self.text, r"oneway-64: corelane-tcp to omniorb-tcp .* missed \(1 of 3 rounds failed\)\n")
        self.assertRegex(self.text, r"\d+ met, \d+ missed, \d+ not measured\n")
        self.assertNotIn("tail-idle", self.text)

    def test_csv_has_every_metric_of_every_round_and_every_failure(self):
        lines = list(csv.DictReader(io.StringIO(report_csv.csv_of(self.results))))
        self.assertEqual(len(lines), sum(len(result.get("metrics", {"error": 1})) for result in self.results.results))
        self.assertIn({"row": "oneway-64", "peer": "corelane-tcp", "round": "2", "metric": "error",
                       "value": "TRANSIENT: no room for a oneway"}, lines)

    def test_markdown_has_whole_tables(self):
        text = report_markdown.markdown_of(self.results)
        for table in re.findall(r"(?m)(?:^\|.*\n)+", text):
            self.assertEqual(len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}), 1)
        self.assertEqual(len(re.findall(r"^### ", text, re.M)), len(self.results.rows()) + 1)
        self.assertIn("- Failed: Corelane TCP, 1 of 3 rounds: TRANSIENT: no room for a oneway", text)

    def test_the_page_needs_nothing_from_elsewhere(self):
        self.assertEqual(re.findall(r"""(?:src|href)=["'](?!#)[^"']*|url\(|@import|<script|<link|https?:""", self.page), [])

    def test_the_page_escapes_what_programs_say(self):
        self.assertIn("&lt;no &quot;place&quot; &amp; no name&gt;", self.page)
        self.assertNotIn("<no ", self.page)

    def test_links_of_the_page_lead_to_its_rows(self):
        links = re.findall(r'href="#([^"]+)"', self.page)
        self.assertEqual(links, [row.name for row in rows.ROWS if row.name in self.results.rows()])
        for link in links:
            self.assertIn(f'id="{link}"', self.page)

    def test_each_row_has_a_plot_with_each_of_its_peers(self):
        drawings = re.findall(r"<svg.*?</svg>", self.page, re.S)
        self.assertEqual(len(drawings), len(self.results.rows()))
        for drawing in drawings:
            xml.etree.ElementTree.fromstring(drawing)
        for row in self.results.rows():
            plot = plots.plot_of(self.results, rows.row_named(row))
            for peer in self.results.peers_of(row):
                self.assertIn(f">{peer}<", plot)

    def test_marks_of_a_plot_lie_inside_it(self):
        for row in self.results.rows():
            plot = plots.plot_of(self.results, rows.row_named(row))
            for x in re.findall(r'\bc?x[12]?="([-\d.]+)"', plot):
                self.assertTrue(0 <= float(x) <= plots.WIDTH, f"{row}: {x}")

    def test_an_older_build_is_a_line_and_a_ratio_of_each_round(self):
        def of(peer, values):
            return [{"row": "two-way-one", "peer": peer, "round": number, "metrics": {"p50_ns": value}}
                    for number, value in enumerate(values, 1)]

        kept = results.Results({}, of("corelane-tcp", [10, 40, 30]) + of("corelane-tcp@before", [20, 50, 40]))
        text = report_text.text_of(kept)
        self.assertIn("to before", text)
        self.assertRegex(text, r"(?m)^  Corelane TCP +0\.75 +0\.03 ")
        self.assertRegex(text, r"(?m)^  Corelane TCP, before +- +0\.04 ")

    def test_a_row_in_which_all_failed_has_no_plot_and_a_table(self):
        kept = results.Results({}, [{"row": "two-way-one", "peer": "bare-tcp", "round": 1, "error": "no"}])
        self.assertEqual(plots.plot_of(kept, rows.row_named("two-way-one")), "")
        self.assertIn("1 of 1 rounds: no", report_html.html_of(kept))


if __name__ == "__main__":
    unittest.main()
