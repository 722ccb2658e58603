"""The report as text for a terminal."""
import formats
import goals
import tables


def _columns(lines, gap="  "):
    """Aligns the first column left and the others right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        yield "  " + gap.join(cells).rstrip()


def _table(table):
    yield f"{table.row.name}: {table.row.title}"
    yield from _columns([("",) + table.headings] + [(line.title,) + line.cells for line in table.lines])
    for line in table.lines:
        for failure in line.failures:
            yield f"  FAILED {line.title}, {failure}"
    if table.row.note:
        yield f"  ({table.row.note})"
    yield ""


def _goals(judgements):
    yield "Goals: what each says, the median over the rounds"
    lines = [("", "goal", "got", "")]
    for judgement in judgements:
        words = judgement.status + (f" ({judgement.why})" if judgement.why else "")
        lines.append((f"{judgement.goal.row}: {judgement.goal.says}", goals.text_of_bound(judgement.goal),
                      formats.got(judgement), words))
    yield from _columns(lines)
    counts = {status: sum(judgement.status == status for judgement in judgements)
              for status in ("met", "missed", "not measured")}
    yield "  " + ", ".join(f"{count} {status}" for status, count in counts.items())


def text_of(results):
    lines = [f"{name}: {value}" for name, value in tables.facts_of(results)] + [""]
    for table in tables.tables_of(results):
        lines += _table(table)
    judgements = tables.judgements_of(results)
    if judgements:
        lines += _goals(judgements)
    return "\n".join(lines) + "\n"
