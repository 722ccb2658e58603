"""Results of a run, and what is computed of them: medians over rounds, and ratios round by round.

A result is a dict: row, peer, round, and either `metrics` or `error`. Results are kept as JSON, one a line, after a
first line with the facts of the machine.
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
        """Names of the rows that have results, in the order in which they ran."""
        return list(dict.fromkeys(result["row"] for result in self.results))

    def peers_of(self, row):
        return list(dict.fromkeys(result["peer"] for result in self.results if result["row"] == row))

    def values(self, row, peer, metric):
        """Round -> value, of the rounds that have one."""
        return {result["round"]: result["metrics"][metric] for result in self.of(row, peer)
                if metric in result.get("metrics", {})}

    def median(self, row, peer, metric):
        """The median over the rounds; the greatest of all for a maximum and for what must not happen. None: no round."""
        values = self.values(row, peer, metric).values()
        if not values:
            return None
        return max(values) if metric in WORST else statistics.median(values)

    def ratio(self, row, peer, metric, to_row, to_peer, to_metric=None):
        """The median of the ratios of each round: both values of a round met the same machine. None: no such round."""
        return self.compared(lambda a, b: a / b if b else None, (row, peer, metric),
                             (to_row, to_peer, to_metric or metric))

    def compared(self, function, *quantities):
        """The median over the rounds of what the function says of the quantities (row, peer, metric)."""
        series = [self.values(*quantity) for quantity in quantities]
        rounds = set(series[0]).intersection(*series[1:])
        values = [function(*(values[number] for values in series)) for number in sorted(rounds)]
        values = [value for value in values if value is not None]
        return statistics.median(values) if values else None

    def failures(self, row, peer):
        """The reason of each round that failed, and of each in which single calls did."""
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
    """ValueError where the file is no result file."""
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
