#!/usr/bin/env python3
"""Tests the way from results to Parquet that docs/python.md shows. Without pyarrow it is skipped.

    parquet_test.py PACKAGES

PACKAGES is the folder that contains the built package.
"""
import pathlib
import sys
import tempfile

try:
    import pyarrow.parquet  # noqa: F401
except ImportError as error:  # also of a pyarrow that needs a newer NumPy
    print(f"SKIPPED: {error} (pip install --upgrade pandas pyarrow)")
    sys.exit()
sys.path.insert(0, sys.argv[1])

import pandas  # noqa: E402

import corelane  # noqa: E402

found = corelane.sweep({"repetitions": 3, "platform": {"cores": 2}, "generate": {"tasks": 4},
                        "experiment": {"length": "100ms"},
                        "sweep": [{"field": "generate.utilization", "values": [0.5, 1.9]}]})
with tempfile.TemporaryDirectory() as place:
    found.to_csv(pathlib.Path(place, "sweep.csv"), index=False)
    corelane.results(pathlib.Path(place, "sweep.csv")).to_parquet(pathlib.Path(place, "sweep.parquet"))
    pandas.testing.assert_frame_equal(pandas.read_parquet(pathlib.Path(place, "sweep.parquet")), found)
    run = corelane.simulate({"task": [{"label": "a", "period": "10ms", "budget": "1ms"}]}, cores=1)
    for table in (run.tasks, run.jobs):
        table.to_parquet(pathlib.Path(place, "table.parquet"))
        pandas.testing.assert_frame_equal(pandas.read_parquet(pathlib.Path(place, "table.parquet")), table)
assert len(found) == 12, found
print(len(found), "rows")
