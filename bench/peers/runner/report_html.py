"""The report as one HTML page that needs no other file: style and plots are inside."""
import html

import formats
import goals
import plots
import tables

STYLE = """
:root { color-scheme: light dark; --ink: #1f2937; --paper: #ffffff; --faint: #6b7280; --edge: #e5e7eb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5e7eb; --paper: #111827; --faint: #9ca3af; --edge: #374151; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1000px;
       margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2.5rem 0 .3rem; font-size: 1.15rem; } p.note, dd, .value, .tick { color: var(--faint); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: .2rem .5rem; border-bottom: 1px solid var(--edge); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
div.wide { overflow-x: auto; } svg { width: 100%; height: auto; margin: .5rem 0; font-size: 12px; fill: var(--ink); }
svg .grid { stroke: var(--edge); } svg .round { stroke: var(--ink); stroke-opacity: .6; }
svg .value, svg .tick { fill: var(--faint); } svg .failed { fill: #dc2626; }
.met { color: #15803d; } .missed, p.failed { color: #dc2626; } .not { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dd { margin: 0; }
nav a { margin-right: .8rem; }
"""


def _row(cells, tag="td", kind=""):
    attribute = f' class="{kind}"' if kind else ""
    return f"<tr{attribute}>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _goals(judgements):
    if not judgements:
        return ""
    lines = [_row(("goal", "bound", "got", ""), "th")]
    for judgement in judgements:
        goal = judgement.goal
        words = judgement.status + (f" ({judgement.why})" if judgement.why else "")
        lines.append(_row((f"{goal.row}: {goal.says}", goals.text_of_bound(goal), formats.got(judgement), words),
                          kind=judgement.status.split()[0]))
    return '<h2 id="goals">Goals</h2><div class="wide"><table>' + "".join(lines) + "</table></div>"


def _section(results, table):
    row = table.row
    lines = [_row(("",) + table.headings, "th")] + [_row((line.title,) + line.cells) for line in table.lines]
    failures = "".join(f'<p class="failed">{html.escape(f"{line.title}, {failure}")}</p>'
                       for line in table.lines for failure in line.failures)
    return (f'<h2 id="{row.name}">{html.escape(row.title)}</h2><p class="note">{html.escape(row.note)}</p>'
            f"{plots.plot_of(results, row)}<div class=\"wide\"><table>{''.join(lines)}</table></div>{failures}")


def html_of(results):
    facts = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>"
                    for name, value in tables.facts_of(results))
    all_tables = tables.tables_of(results)
    links = "".join(f'<a href="#{table.row.name}">{table.row.name}</a> ' for table in all_tables)
    body = "".join(_section(results, table) for table in all_tables)
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>Corelane beside its peers</title><style>{STYLE}</style></head><body>"
            "<h1>Corelane beside its peers</h1>"
            "<p>Medians over the rounds; a maximum is the greatest of all rounds. Ratios are computed in each round, "
            "and their median is shown. Logarithmic plots run from p50 to the maximum; small marks are p99, p99.9 and "
            "p99.99, rings the p50 of each round. Corelane is orange, what has no library grey, the others blue.</p>"
            f"<dl>{facts}</dl><nav>{links}</nav>{_goals(tables.judgements_of(results))}{body}</body></html>\n")
