"""The report as CSV: a line for every metric of every round, and for every failure."""
import csv
import io


def csv_of(results):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("row", "peer", "round", "metric", "value"))
    for result in results.results:
        place = (result["row"], result["peer"], result["round"])
        for metric, value in result.get("metrics", {}).items():
            writer.writerow(place + (metric, value))
        if "error" in result:
            writer.writerow(place + ("error", result["error"]))
    return out.getvalue()
