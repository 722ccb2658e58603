"""Plans, simulations and sweeps of real-time task sets, as pandas data frames.

    import corelane
    plan = corelane.plan("plant.toml")          # which tasks fit, on which core, with which bound
    run = corelane.simulate("plant.toml")       # which deadlines are met in virtual time
    sets = corelane.sweep("sweep.toml")         # thousands of sets under several dispatchers
    sets = corelane.results("sweep.csv")        # what `corelane eval` wrote

A scenario is the path of a file, a text with line breaks in TOML, or a dict with the same tables. Times are whole
numbers of nanoseconds, in columns whose names end in _ns. docs/python.md of Corelane describes everything.
"""
import io
import operator
import os
import re
import reprlib
from dataclasses import dataclass

import numpy
import pandas

from . import _corelane
from ._corelane import Core, ScenarioError, Task
from ._text import text_of
from ._toml import lines_of, toml_of

__all__ = ["Core", "Plan", "Run", "ScenarioError", "Task", "dispatchers", "plan", "results", "simulate", "sweep"]
__version__ = _corelane.version

# The columns that every table has, also one without rows. Others are the fields of the scenario's sweeps.
_CONTRACT = {"label": "string", "period_ns": "int64", "deadline_ns": "int64", "budget_ns": "int64", "jitter_ns": "int64"}
_PLANNED_TASKS = {"set": "int64", **_CONTRACT, "utilization": "float64", "admitted": "bool", "core": "Int64",
                  "bound_ns": "Int64", "largest_budget_ns": "Int64", "refusal": "string"}
_PLANNED_CORES = {"set": "int64", "core": "int64", "tasks": "int64", "utilization": "float64", "platform": "float64"}
_PLANNED_CHAINS = {"set": "int64", "label": "string", "deadline_ns": "Int64", "bound_ns": "Int64",
                   "direct_bound_ns": "Int64", "holds": "bool"}
_PLANNED_SETS = {"set": "int64", "cores": "int64", "tasks": "int64", "admitted": "int64", "accepted": "float64",
                 "fewest_cores": "Int64", "growth": "Float64", "holds": "bool"}
_RUN_TASKS = {**_CONTRACT, "admitted": "bool", "core": "Int64", "bound_ns": "Int64", "worst_ns": "Int64",
              "mean_ns": "Int64", "jobs": "int64", "misses": "int64", "overruns": "int64", "refusal": "string"}
_RESULTS = {"experiment": "string", "scenario": "string", "mode": "string", "machine": "string", "kernel": "string",
            "version": "string", "dispatcher": "string", "allocation": "string", "test": "string", "order": "string",
            "trace_hash": "string", "worst_of_bound": "Float64"}


@dataclass(frozen=True, repr=False)
class Plan:
    """What a server would promise. Each table has the columns of the scenario's sweeps, and the number of the set."""

    tasks: pandas.DataFrame
    cores: pandas.DataFrame
    chains: pandas.DataFrame
    sets: pandas.DataFrame
    notes: list

    def __repr__(self):
        swept = [name for name in self.sets.columns if name not in _PLANNED_SETS]
        columns = [*swept, "set", "period_ns", "deadline_ns", "budget_ns", "admitted", "core", "bound_ns", "label"]
        return "\n".join([text_of(self.sets, [*swept, *_PLANNED_SETS]), "", text_of(self.tasks, columns),
                          *_lines_of(self.notes)])


@dataclass(frozen=True, repr=False)
class Run:
    """What came of one set of tasks in virtual time."""

    tasks: pandas.DataFrame
    jobs: pandas.DataFrame
    notes: list
    trace: str  # of all events; equal runs have equal texts

    def __repr__(self):
        columns = ["admitted", "core", "bound_ns", "worst_ns", "mean_ns", "jobs", "misses", "label"]
        return "\n".join([text_of(self.tasks, columns), *_lines_of(self.notes), f"Trace {self.trace}."])


def _lines_of(notes):
    return [f"Note: {note}." for note in notes]


def _text_and_name(scenario):
    """Returns the text of a scenario in UTF-8, and how messages name it."""
    if isinstance(scenario, dict):
        return _utf8("<dict>", toml_of(scenario)), "<dict>"
    if isinstance(scenario, str) and "\n" in scenario:
        return _utf8("<text>", scenario), "<text>"
    if isinstance(scenario, (str, os.PathLike)):
        path = os.fsdecode(scenario)
        if "\0" in path:
            raise ScenarioError(f"{path!r} is no path, because it has a NUL; give a path without one")
        _utf8("the path of the scenario", path)
        return _corelane.read(path), path
    raise TypeError(f"the scenario is a {type(scenario).__name__}; give a path, a text in TOML with line breaks, or a dict")


def _ask(function, scenario, *arguments):
    """Returns what a function of the compiled half answers for the scenario."""
    try:
        return function(*_text_and_name(scenario), *arguments)
    except ScenarioError as fault:
        if not isinstance(scenario, dict) or not re.match(r"<dict>:\d", str(fault)):
            raise
        raise ScenarioError(_without_lines(str(fault), scenario)) from None


def _without_lines(fault, scenario):
    """Returns the text of a fault in a dict. Lines, which nobody wrote, become names such as "task 3"."""
    names = {str(line): name for line, (name, _) in enumerate(lines_of(scenario), 1) if name}
    fault = re.sub(r"\bthe one in line (\d+)", lambda place: names.get(place[1], place[0]), fault)
    line, text = re.fullmatch(r"<dict>:(\d+)(?::\d+)?(.*)", fault, re.DOTALL).groups()
    return "<dict>" + (f", {names[line]}" if line in names else "") + text


def _utf8(name, text):
    """Returns the text in UTF-8. A lone surrogate, such as "\\ud800", has no bytes in it."""
    try:
        return text.encode()
    except UnicodeEncodeError as wrong:
        raise ScenarioError(f"{name}: {text[wrong.start]!r} is no character of UTF-8; leave it out") from None


def _whole_number(name, value, least=-(2**63), most=2**63 - 1):
    """Returns the argument as an int."""
    try:
        if isinstance(value, (bool, numpy.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {reprlib.repr(value)} is a {type(value).__name__}; write a whole number") from None
    if not least <= number <= most:
        shown = f" = {number}" if number.bit_length() <= 128 else ""
        raise ValueError(f"{name}{shown} is no number from {least} to {most}; write one of these")
    return number


def _truth(name, value):
    """Returns the argument as a bool."""
    if isinstance(value, (bool, numpy.bool_)):
        return bool(value)
    raise TypeError(f"{name} = {reprlib.repr(value)} is a {type(value).__name__}; write True or False")


def _name_of_dispatcher(value):
    """Returns the argument as a text in UTF-8. A lone surrogate is in no dispatcher's name, and becomes an escape."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    raise TypeError(f"dispatcher = {reprlib.repr(value)} is a {type(value).__name__}; write a text, one of dispatchers()")


def _number_or_none(name, value):
    return None if value is None else _whole_number(name, value)


def _labels_of(numbers, labels):
    """Returns the label of each number. Labels that are unique are categories, which saves memory."""
    if not labels.is_unique:
        return labels.take(numbers).array
    return pandas.Categorical.from_codes(numbers, list(labels))  # as Parquet gives them back


def _own_cores():
    """Returns the numbers of the cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def _frame(columns, kinds):
    """Returns a data frame whose columns have the given types. Values of swept fields become numbers if all are."""
    table = pandas.DataFrame({**columns, **{name: columns.get(name, []) for name in kinds}}, columns=[
        *(name for name in columns if name not in kinds), *kinds])
    for name in table.columns:
        table[name] = table[name].astype(kinds[name]) if name in kinds else _numbers_if_all_are(table[name])
    return table


def _numbers_if_all_are(column):
    try:
        return pandas.to_numeric(column)
    except (TypeError, ValueError):
        return column.astype("string")


def plan(scenario, *, cores=None, allocation=None, test=None, sensitivity=False):
    """Returns a Plan: which tasks a server would admit, on which core, and with which bound.

    cores        so many cores, whatever the scenario says. If neither says it: those that this process may use.
    allocation   a function allocation(cores, task) that returns one of the cores, or None to refuse the task.
    test         a function test(tasks) that returns whether one core may run these tasks. The last one is new.
                 With a function no task moves to make room for another one. Built-in policies move tasks, unless
                 the scenario has policy.repack = False.
    sensitivity  also finds the fewest cores that suffice, and how much the budgets may grow. It takes longer.
    """
    tables = _ask(_corelane.plan, scenario, _own_cores(), _number_or_none("cores", cores), allocation, test,
                  _truth("sensitivity", sensitivity))
    return Plan(_frame(tables["tasks"], _PLANNED_TASKS), _frame(tables["cores"], _PLANNED_CORES),
                _frame(tables["chains"], _PLANNED_CHAINS), _frame(tables["sets"], _PLANNED_SETS), tables["notes"])


def simulate(scenario, *, cores=None, allocation=None, test=None, dispatcher="", set=None, length_ns=None, jobs=True):
    """Returns a Run: what came of one set of tasks in virtual time.

    cores, allocation, test  as in plan(). Functions are asked only under a dispatcher that refuses tasks.
    dispatcher  one of dispatchers(); "": that of the scenario.
    set         the number of the set, from 1 as in `corelane simulate --set`: first all repetitions of the first
                combination of swept values. A scenario with sweeps needs it; otherwise it is 1.
    length_ns   how long the run lasts, in place of experiment.length.
    jobs        False: the table of jobs stays empty, which saves memory.
    """
    tables = _ask(_corelane.simulate, scenario, _own_cores(), _number_or_none("cores", cores), allocation, test,
                  _name_of_dispatcher(dispatcher), _number_or_none("set", set),
                  _number_or_none("length_ns", length_ns), _truth("jobs", jobs))
    tasks = _frame(tables["tasks"], _RUN_TASKS)
    ended = pandas.DataFrame({name: numpy.frombuffer(column, "int64") for name, column in tables["jobs"].items()})
    ended["task"] = _labels_of(ended["task"], tasks["label"])
    ended["response_ns"] = ended["finish_ns"] - ended["release_ns"]
    ended["late"] = ended["finish_ns"] > ended["deadline_ns"]
    return Run(tasks, ended, tables["notes"], tables["trace"])


def sweep(scenario, *, cores=None, threads=0):
    """Returns one row for each set of each combination of the sweeps under each dispatcher of the scenario.

    The columns are those of the CSV file of `corelane eval --virtual`. Ctrl-C stops it.
    """
    return results(io.BytesIO(_ask(_corelane.sweep, scenario, _own_cores(), _number_or_none("cores", cores),
                                   _whole_number("threads", threads, 0, 1024))))


def results(path):
    """Returns what `corelane eval` wrote: the path of a CSV file, or an open file."""
    fault = ScenarioError(f"{getattr(path, 'name', path)} has no results of `corelane eval`; give the CSV file of --output")
    try:
        table = pandas.read_csv(path, dtype=_RESULTS)
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError) as wrong:
        raise fault from wrong
    if not {"dispatcher", "trace_hash"} <= set(table.columns):
        raise fault
    return table


def dispatchers():
    """Returns the names of the dispatchers."""
    return _corelane.dispatchers()
