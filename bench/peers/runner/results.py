"""Results of a run, and the values computed from them: medians over rounds, and ratios round by round.

A result is a dict: row, peer, round, and either `metrics` or `error`. Results are kept as JSON, one a line. The first
line has the facts of the machine.
"""
import json
import statistics


class Results:
    def __init__(self, facts=None, results=()):
        self.facts = facts or {}
        self.results = list(results)

    def add(self, result):
        self.results.append(result)

    def of(self, row, peer):
        return [result for result in self.results if result["row"] == row and result["peer"] == peer]

    def rows(self):
        """Returns the names of the rows that have results, in the order in which they ran."""
        return list(dict.fromkeys(result["row"] for result in self.results))

    def peers_of(self, row):
        return list(dict.fromkeys(result["peer"] for result in self.results if result["row"] == row))

    def values(self, row, peer, metric):
        """Returns a dict from round to value, for the rounds that have a value."""
        return {result["round"]: result["metrics"][metric] for result in self.of(row, peer)
                if metric in result.get("metrics", {})}

    def median(self, row, peer, metric):
        """Returns the median over the rounds. For a maximum, and for what must not happen, returns the largest value.
        None: there is no round."""
        values = self.values(row, peer, metric).values()
        if not values:
            return None
        return max(values) if metric in WORST else statistics.median(values)

    def ratio(self, row, peer, metric, to_row, to_peer, to_metric=None):
        """Returns the median of the ratios of each round: both values of a round come from the same conditions of the
        machine. None: there is no such round."""
        return self.compared(lambda a, b: a / b if b else None, (row, peer, metric),
                             (to_row, to_peer, to_metric or metric))

    def compared(self, function, *quantities):
        """Returns the median over the rounds of `function`, applied to the quantities (row, peer, metric)."""
        series = [self.values(*quantity) for quantity in quantities]
        rounds = set(series[0]).intersection(*series[1:])
        values = [function(*(values[number] for values in series)) for number in sorted(rounds)]
        values = [value for value in values if value is not None]
        return statistics.median(values) if values else None

    def failures(self, row, peer):
        """Returns the reason of each round that failed, and of each round in which single calls failed."""
        reasons = []
        for result in self.of(row, peer):
            metrics = result.get("metrics", {})
            if "error" in result:
                reasons.append(result["error"])
            elif metrics.get("failed"):
                reasons.append(f"{metrics['failed']} calls failed: {metrics.get('fault', '')}")
            elif metrics.get("lost"):
                reasons.append(f"{metrics['lost']} of {metrics['sent']} lost")
        return reasons

    def rounds_of(self, row, peer):
        return len(self.of(row, peer))


WORST = {"max_ns", "max_call_ns", "lost", "failed"}


def save_line(file, value):
    file.write(json.dumps(value) + "\n")
    file.flush()


def load(path):
    """Reads a file of results. Raises ValueError if it is not one."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.strip()]
    try:
        first, *rest = [json.loads(line) for line in lines]
        if "facts" not in first or not all({"row", "peer", "round"} <= set(result) for result in rest):
            raise ValueError
    except ValueError:
        raise ValueError(f"{path} is no file of results: the first line has the facts of the machine, each other one "
                         "has row, peer and round") from None
    return Results(first["facts"], rest)
