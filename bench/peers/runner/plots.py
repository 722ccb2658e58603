"""Plots of a row as inline SVG. Each peer is a line; the axis begins at 0 for rates and is logarithmic for times."""
import html
import math

import formats

WIDTH, LABEL, RIGHT, LINE, TOP = 900, 250, 90, 26, 34
PERCENTILES = ("p50_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns")
COLORS = {"corelane": "#c2410c", "bare": "#4b5563", "ring": "#4b5563", "floor": "#4b5563", "virtual": "#4b5563"}
OTHER_COLOR = "#2563eb"


def color_of(peer):
    return COLORS.get(peer.split("-")[0], OTHER_COLOR)


def _text(x, y, words, anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{html.escape(words)}</text>'


def _number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


class _Scale:
    """Positions on the axis. The tick values are in the unit of the metric's heading."""

    def __init__(self, least, greatest, is_logarithmic):
        self.is_logarithmic = is_logarithmic
        if is_logarithmic:
            self.low = math.floor(math.log10(least))
            self.high = max(math.ceil(math.log10(greatest)), self.low + 1)
        else:
            self.low, self.high = 0, greatest * 1.05 or 1

    def __call__(self, value):
        at = math.log10(max(value, 10.0 ** self.low)) if self.is_logarithmic else value
        return LABEL + (at - self.low) / (self.high - self.low) * (WIDTH - LABEL - RIGHT)

    def ticks(self):
        if self.is_logarithmic:
            return [10.0 ** exponent for exponent in range(self.low, self.high + 1)]
        step = 10 ** math.floor(math.log10(self.high))
        step = next(step / part for part in (1, 2, 5, 10) if self.high / (step / part) >= 3)
        return [step * number for number in range(int(self.high / step) + 1)]


def _grid(scale, lines, unit):
    bottom = TOP + lines * LINE
    parts = [_text(LABEL - 10, TOP - 12, unit, "end", 'class="tick"')]
    for tick in scale.ticks():
        x = scale(tick)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}" class="grid"/>')
        parts.append(_text(x, TOP - 12, _number(tick), "middle", 'class="tick"'))
    return parts


def _svg(lines, parts, title):
    height = TOP + lines * LINE + 8
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(title)}">' + "".join(parts) +
            "</svg>")


def _tail_of(results, row, peer):
    """Returns (metric, value) of the measured percentiles."""
    pairs = [(metric, results.median(row, peer, metric)) for metric in PERCENTILES]
    return [(metric, formats.scaled(metric, value)) for metric, value in pairs if value]


def percentiles_plot(results, row, names):
    """Returns a plot with a line from p50 to the maximum and a mark at each percentile. Rings show p50 of each round."""
    tails = {peer: _tail_of(results, row.name, peer) for peer in names}
    values = [value for tail in tails.values() for _, value in tail]
    if not values:
        return ""
    scale = _Scale(min(values), max(values), True)
    parts = _grid(scale, len(names), "us")
    for line, peer in enumerate(names):
        y, color, tail = TOP + line * LINE + LINE / 2, color_of(peer), tails[peer]
        parts.append(_text(LABEL - 10, y + 4, peer, "end"))
        if not tail:
            parts.append(_text(LABEL + 4, y + 4, "failed", extra='class="failed"'))
            continue
        parts.append(f'<line x1="{scale(tail[0][1]):.1f}" y1="{y}" x2="{scale(tail[-1][1]):.1f}" y2="{y}" '
                     f'stroke="{color}" stroke-opacity=".45" stroke-width="2"/>')
        for value in results.values(row.name, peer, "p50_ns").values():
            parts.append(f'<circle cx="{scale(formats.scaled("p50_ns", value)):.1f}" cy="{y}" r="6" fill="none" '
                         f'stroke="{color}" stroke-opacity=".4"/>')
        for metric, value in tail:
            parts.append(f'<circle cx="{scale(value):.1f}" cy="{y}" r="{4 if metric == "p50_ns" else 2.5}" '
                         f'fill="{color}"><title>{peer} {formats.heading(metric)}: {value:,.2f}</title></circle>')
        parts.append(_text(WIDTH - RIGHT + 6, y + 4, _number(tail[0][1]), extra='class="value"'))
    return _svg(len(names), parts, f"{row.title}: percentiles in microseconds")


def bars_plot(results, row, names):
    """Returns a plot with a bar for the median and a mark for each round."""
    medians = {peer: results.median(row.name, peer, row.metric) for peer in names}
    rounds = {peer: [formats.scaled(row.metric, value)
                     for value in results.values(row.name, peer, row.metric).values()] for peer in names}
    greatest = max((value for values in rounds.values() for value in values), default=0)
    if greatest <= 0:
        return ""
    scale = _Scale(0, greatest, False)
    parts = _grid(scale, len(names), formats.heading(row.metric))
    for line, peer in enumerate(names):
        y, color = TOP + line * LINE + 5, color_of(peer)
        parts.append(_text(LABEL - 10, y + 12, peer, "end"))
        if medians[peer] is None:
            parts.append(_text(LABEL + 4, y + 12, "failed", extra='class="failed"'))
            continue
        value = formats.scaled(row.metric, medians[peer])
        width = max(scale(max(value, 0)) - LABEL, 0.5)
        parts.append(f'<rect x="{LABEL}" y="{y}" width="{width:.1f}" height="{LINE - 10}" fill="{color}" '
                     f'fill-opacity=".75"><title>{peer}: {value:,.2f}</title></rect>')
        for each in rounds[peer]:
            parts.append(f'<line x1="{scale(each):.1f}" y1="{y - 2}" x2="{scale(each):.1f}" y2="{y + LINE - 8}" '
                         'class="round"/>')
        parts.append(_text(WIDTH - RIGHT + 6, y + 12, _number(value), extra='class="value"'))
    return _svg(len(names), parts, f"{row.title}: {formats.heading(row.metric)}")


def plot_of(results, row):
    names = results.peers_of(row.name)
    if "p999_ns" in row.columns:
        return percentiles_plot(results, row, names)
    return bars_plot(results, row, names)
