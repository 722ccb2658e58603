#!/usr/bin/env python3
"""Compares Corelane with other brokers and RPC systems. `./dev bench peers` builds the programs and runs this.

    bench_peers.py [--only ROW ...] [--peers NAME ...] [--rounds N] [--quick]       runs, and writes the reports
    bench_peers.py --report RESULTS                                                writes the reports of an older run

docs/peers.md says what the rows measure.
"""
import argparse
import os
import resource
import sys

import machine
import peers
import report_csv
import report_html
import report_markdown
import report_text
import results
import rows
import runs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench peers", description="Compares Corelane with its peers.")
    parser.add_argument("--only", nargs="+", default=[], metavar="ROW", help="these rows")
    parser.add_argument("--peers", nargs="+", default=[], metavar="NAME", help="these peers, or groups of peers")
    parser.add_argument("--rounds", type=int, help="rounds (5; with --quick 1)")
    parser.add_argument("--quick", action="store_true", help="few calls: shows that everything works, measures nothing")
    parser.add_argument("--tail-calls", type=int, metavar="N", help="calls of a tail row in a round")
    parser.add_argument("--before", metavar="FOLDER", help="Corelane's programs of an older build, to compare with: a "
                        "copy of its build/bin/peers")
    parser.add_argument("--output", metavar="FOLDER", help="where the reports go (build/peers)")
    parser.add_argument("--programs", help=argparse.SUPPRESS)  # the folder of the peers' programs
    parser.add_argument("--list", action="store_true", help="print the rows and peers, and run nothing")
    parser.add_argument("--report", metavar="RESULTS", help="write the reports of this file of results; run nothing")
    parser.add_argument("--left-out", nargs="*", default=[], metavar="GROUP=REASON", help=argparse.SUPPRESS)
    parser.add_argument("--groups", action="store_true", help=argparse.SUPPRESS)  # prints what has to be built, and ends
    options = parser.parse_args(arguments)
    options.programs = options.programs or os.path.join(ROOT, "build/bin/peers")
    options.output = options.output or os.path.join(ROOT, "build/peers")
    try:
        options.rows, options.chosen = rows.choose(options.only), peers.choose(options.peers)
    except ValueError as error:
        parser.error(str(error))
    if options.rounds is None:
        options.rounds = 1 if options.quick else 5
    if options.before and not os.path.isdir(options.before):
        parser.error(f"--before: there is no folder {options.before}; copy build/bin/peers there before you change Corelane")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    options.left_out = dict(word.split("=", 1) for word in options.left_out)
    return options


def plan(chosen_rows, chosen_peers, rounds, before=None):
    """Yields (round, row, peer) in the order in which they run. Rows are interleaved round by round. Within a row each
    round begins with another peer, so that no peer always follows the same one. With `before`, each peer of Corelane
    also runs with the programs of that folder, right after itself."""
    for number in range(1, rounds + 1):
        for row in chosen_rows:
            taking_part = [twin for peer in map(peers.peer_named, row.peers) if peer in chosen_peers
                           for twin in with_twin(peer, before)]
            first = (number - 1) % max(len(taking_part), 1)
            for peer in taking_part[first:] + taking_part[:first]:
                yield number, row, peer


def with_twin(peer, before):
    return [peer, peers.twin_of(peer, before)] if before and peer.group == "corelane" else [peer]


def groups_of(options):
    """Returns the groups whose programs the chosen rows and peers need. For pooling clients, the bare client holds the
    idle connections, so its group is included."""
    taking_part = [(row, peer) for _, row, peer in plan(options.rows, options.chosen, 1)]
    names = set().union(*(peers.groups_of(peer) for _, peer in taking_part))
    if any(peer.crowd and row.how in ("crowd", "idle") for row, peer in taking_part):
        names.add("bare")
    return [group for group in peers.GROUPS if group.name in names]


def print_groups(options):
    """Prints a line for each group: name, target, packages. `dev` reads it. Programs that run beside a row have the
    target -."""
    for group in groups_of(options):
        print(group.name, group.build_target, *peers.packages_of(group))
    for program in sorted({row.beside[0] for row in options.rows if row.beside}):
        print(program, "-", program)


def outcome_of(setting, row, peer, options):
    for group in sorted(peers.groups_of(peer) & set(options.left_out)):
        return {"error": f"{group} was not built: {options.left_out[group]}"}
    more = ("--calls", str(options.tail_calls)) if options.tail_calls and row.name.startswith("tail-") else ()
    try:
        return {"metrics": runs.run_once(setting, row, peer, options.quick, more)}
    except runs.Failure as failure:
        return {"error": str(failure)}


def print_list(options):
    """Prints each chosen row and the chosen peers that run in it."""
    for row in options.rows:
        names = [peer.name for _, _, peer in plan([row], options.chosen, 1)]
        print(f"{row.name}: {row.title}\n  {' '.join(names)}")


def show(number, row, peer, outcome):
    metrics = outcome.get("metrics", {})
    words = f"{row.metric} {metrics[row.metric]:,.0f}" if row.metric in metrics else f"FAILED: {outcome.get('error')}"
    print(f"  round {number}  {row.name:18} {peer.name:34} {words}", flush=True)


def raise_descriptor_limit():
    """Raises the limit of descriptors as far as this user may: a row opens 10,000 connections."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def run_all(options):
    """Runs the plan. Each result is on disk before the next run begins. After an interrupt it reports the results so
    far."""
    packages = [package for group in groups_of(options) for package in group.packages]
    raise_descriptor_limit()
    setting = runs.Setting(options.programs, sorted(os.sched_getaffinity(0)))
    kept = results.Results(machine.facts(options.rounds, packages, options.left_out))
    os.makedirs(options.output, exist_ok=True)
    with open(os.path.join(options.output, "results.jsonl"), "w", encoding="utf-8") as file:
        results.save_line(file, {"facts": kept.facts})
        try:
            for number, row, peer in plan(options.rows, options.chosen, options.rounds, options.before):
                outcome = outcome_of(setting, row, peer, options)
                show(number, row, peer, outcome)
                kept.add({"row": row.name, "peer": peer.name, "round": number, **outcome})
                results.save_line(file, kept.results[-1])
        except KeyboardInterrupt:
            print("bench peers: interrupted; the reports hold what was measured until now", file=sys.stderr)
    return kept


def write_reports(kept, folder):
    os.makedirs(folder, exist_ok=True)
    for name, text in (("report.txt", report_text.text_of(kept)), ("report.csv", report_csv.csv_of(kept)),
                       ("report.html", report_html.html_of(kept)), ("report.md", report_markdown.markdown_of(kept))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    print(report_text.text_of(kept))
    print(f"Reports: {folder}/report.txt, report.md, report.csv, report.html; results: results.jsonl")


def main(arguments):
    options = parsed(arguments)
    if options.groups:
        print_groups(options)
        return 0
    if options.list:
        print_list(options)
        return 0
    if options.report:
        try:
            kept = results.load(options.report)
        except (OSError, ValueError) as error:
            print(f"bench peers: {error}", file=sys.stderr)
            return 2
        write_reports(kept, options.output)
        return 0
    kept = run_all(options)
    if not kept.results:
        print("bench peers: none of the chosen peers takes part in the chosen rows", file=sys.stderr)
        return 2
    write_reports(kept, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
