"""The tables of a report for all formats: headings and cells as words."""
import dataclasses

import formats
import goals
import peers
import rows


@dataclasses.dataclass(frozen=True)
class Line:
    peer: str
    title: str
    cells: tuple  # as many as there are headings
    failures: tuple  # each reason once, with its count


@dataclasses.dataclass(frozen=True)
class Table:
    row: rows.Row
    headings: tuple
    lines: tuple


def _failures_of(results, row, peer):
    reasons = results.failures(row, peer)
    total = results.rounds_of(row, peer)
    return tuple(f"{reasons.count(reason)} of {total} rounds: {reason}" for reason in dict.fromkeys(reasons))


def table_of(results, row):
    names = results.peers_of(row.name)
    reference = row.reference if row.reference in names else ""
    older = {peer: peer + peers.BEFORE for peer in names if peer + peers.BEFORE in names}
    headings = ((f"ratio to {reference}",) if reference else ()) + (("to before",) if older else ())
    lines = []
    for peer in names:
        cells = [formats.ratio(results.ratio(row.name, peer, row.metric, row.name, reference))] if reference else []
        if older:
            cells.append(formats.ratio(results.ratio(row.name, peer, row.metric, row.name, older.get(peer, ""))))
        cells += [formats.number(metric, results.median(row.name, peer, metric)) for metric in row.columns]
        lines.append(Line(peer, peers.title_of(peer), tuple(cells), _failures_of(results, row.name, peer)))
    return Table(row, headings + tuple(map(formats.heading, row.columns)), tuple(lines))


def tables_of(results):
    """Returns a table for each row that has results, in the order of rows.ROWS."""
    ran = set(results.rows())
    return [table_of(results, row) for row in rows.ROWS if row.name in ran]


def judgements_of(results):
    return goals.judge_all(results, set(results.rows()))


def facts_of(results):
    """Returns (name, value) pairs of the machine and of the run."""
    facts = results.facts
    keys = ("machine", "scheduling", "commit", "date", "rounds", "load", "versions")
    pairs = [(key, str(facts[key])) for key in keys if key in facts]
    return pairs + [("left out", f"{group}: {reason}") for group, reason in facts.get("left_out", {}).items()]
