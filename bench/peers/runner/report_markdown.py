"""The report as Markdown, for documents."""
import formats
import goals
import tables


def _line(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _table(heading, lines):
    yield _line(heading)
    yield "|" + "---|" * len(heading)
    yield from map(_line, lines)
    yield ""


def _section(table):
    yield f"### {table.row.title[0].upper()}{table.row.title[1:]} (`{table.row.name}`)"
    yield ""
    yield from _table(("",) + table.headings, [(line.title,) + line.cells for line in table.lines])
    for line in table.lines:
        yield from (f"- Failed: {line.title}, {failure}" for failure in line.failures)
    if any(line.failures for line in table.lines):
        yield ""


def markdown_of(results):
    lines = [f"- {name}: {value}" for name, value in tables.facts_of(results)] + [""]
    for table in tables.tables_of(results):
        lines += _section(table)
    judgements = tables.judgements_of(results)
    if judgements:
        lines += ["### Goals", ""]
        lines += _table(("row", "goal", "bound", "got", ""),
                        [(judgement.goal.row, judgement.goal.says, goals.text_of_bound(judgement.goal),
                          formats.got(judgement), judgement.status + (f" ({judgement.why})" if judgement.why else ""))
                         for judgement in judgements])
    return "\n".join(lines)
