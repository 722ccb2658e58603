"""How metrics are written: name, unit and number."""

# metric -> (heading, divisor, digits)
COLUMNS = {
    "min_ns": ("min us", 1000, 2),
    "p50_ns": ("p50 us", 1000, 2),
    "p99_ns": ("p99 us", 1000, 2),
    "p999_ns": ("p99.9 us", 1000, 2),
    "p9999_ns": ("p99.99 us", 1000, 1),
    "max_ns": ("max us", 1000, 0),
    "p50_call_ns": ("p50 ns", 1, 2),
    "p99_call_ns": ("p99 ns", 1, 2),
    "p999_call_ns": ("p99.9 ns", 1, 2),
    "max_call_ns": ("max ns", 1, 1),
    "p50_before_ns": ("p50 us without", 1000, 2),
    "rate": ("calls/s", 1, 0),
    "cpu_s": ("CPU s per 100,000", 1, 2),
    "idle_cpu_ms": ("idle CPU ms/s", 1, 2),
    "sent": ("sent", 1, 0),
    "lost": ("lost", 1, 0),
    "failed": ("failed", 1, 0),
    "rss_kib": ("RSS KiB", 1, 2),
    "kernel_kib": ("kernel KiB", 1, 2),
    "connections": ("connections", 1, 0),
    "first_ns": ("first call ms", 1_000_000, 1),
    "server_kib": ("server KiB", 1, 0),
    "client_kib": ("client KiB", 1, 0),
    "server_all_kib": ("server KiB, all", 1, 0),
    "client_all_kib": ("client KiB, all", 1, 0),
}


def heading(metric):
    return COLUMNS[metric][0]


def scaled(metric, value):
    return value / COLUMNS[metric][1]


def number(metric, value):
    """Returns the value in the unit of its heading; a dash for none."""
    if value is None:
        return "-"
    return f"{scaled(metric, value):,.{COLUMNS[metric][2]}f}"


def ratio(value):
    return "-" if value is None else f"{value:.2f}"


def got(judgement):
    """Returns the value of a goal's quantity, in the goal's unit."""
    if judgement.got is None:
        return "-"
    unit = judgement.goal.unit
    return f"{judgement.got:.2f}x" if unit == "x" else f"{judgement.got:,.1f} {unit}".strip()
