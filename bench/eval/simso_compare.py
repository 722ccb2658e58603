#!/usr/bin/env python3
"""Compares the finish times of `corelane simulate` with those of SimSo 0.8 on random sets of tasks.

    python3 -m venv build/simso                       # SimSo 0.8 needs Python 3.11 or older
    build/simso/bin/pip install simso==0.8
    build/simso/bin/python bench/eval/simso_compare.py [--sets N] [--policies NAME ...] [--program PATH]

Prints a line for each policy: the sets, the jobs that finished within the run, how many of them were late, and how many
differ. A job differs if its finish times are not the same nanosecond, or if it finished under one simulator only. The
exit status is 0 if no job differs, 1 if one does, and 2 if the comparison could not run.

SimSo (Cheramy, Hladik & Deplanche 2014) runs its own schedulers RM_mono, EDF_mono, RM and EDF unchanged. Only the
partition is handed over: SimSo puts each task on the core that Corelane chose.

Sets. 2 to 12 periodic tasks start together on 1 to 4 cores. Periods and execution times are whole milliseconds. The
tasks need 50 to 100 % of the cores, but not more than 75 % of a core each on average. Half of the sets have implicit
deadlines, the others constrained ones. All policies get the same sets. They depend on the seed alone, so a run with
--sets N has the first N sets of any longer run.

Ties. Which of two equally urgent jobs runs first is a choice, so the sets have no such jobs. The periods of a set are
distinct, and a longer period has a longer deadline. So SimSo's order by period is Corelane's order by deadline. The
deadline of the i-th task is i microseconds shorter than whole milliseconds, implicit deadlines included. So two jobs
never have the same absolute deadline. Which of several cores runs a job changes no finish time.

Late jobs. Both simulators finish them. Under partitioned RM, the dispatcher mc-orb* refuses no task. Under the global
policies, budgets are a thousandth of the execution times, so that the test admits every task. A longer execution is
only reported there. Cores that run the earliest deadline first hold tasks to their budgets. So under partitioned EDF
the budgets are the execution times, no job is late, and SimSo does not get the tasks that Corelane refuses.
"""
import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import namedtuple

try:
    from simso.configuration import Configuration
    from simso.core import Model
    from simso.core.Scheduler import SchedulerInfo
    from simso.schedulers.EDF import EDF
    from simso.schedulers.RM import RM
    from simso.utils import PartitionedScheduler
except ImportError as error:
    print(f"simso_compare.py: SimSo cannot be imported: {error}. The first lines of this script say how to install it.",
          file=sys.stderr)
    sys.exit(2)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEED = 1
LENGTH = 500  # ms
NS_PER_MS = 1_000_000
SHOWN = 5  # how many differing jobs of a set are printed

# `period` and `execution` in ms, `deadline` in us.
Task = namedtuple("Task", "label period execution deadline")
TaskSet = namedtuple("TaskSet", "cores tasks")
# `scheduler`: a class of SimSo. A budget is the execution time divided by `divisor`.
Policy = namedtuple("Policy", "name scheduler dispatcher test divisor")
Count = namedtuple("Count", "jobs late differing")


class Partitioned(PartitionedScheduler):
    """Puts each task on the core that Corelane chose for it."""
    core_scheduler = None

    def init(self):
        PartitionedScheduler.init(self, SchedulerInfo(self.core_scheduler))

    def packer(self):
        for task in self.task_list:
            self.affect_task_to_processor(task, self.processors[task.data["core"]])
        return True


class PartitionedRM(Partitioned):
    core_scheduler = "simso.schedulers.RM_mono"


class PartitionedEDF(Partitioned):
    core_scheduler = "simso.schedulers.EDF_mono"


POLICIES = (
    Policy("partitioned-rm", PartitionedRM, "mc-orb*", "response-time", 1),
    Policy("partitioned-edf", PartitionedEDF, "mc-orb", "qpa", 1),
    Policy("global-rm", RM, "mc-orb", "global-fp", 1000),
    Policy("global-edf", EDF, "mc-orb", "gfb", 1000),
)


def utilizations(rng, count, total):
    """Returns so many utilizations of at most 1 with this sum (UUniFast-discard). total <= count"""
    while True:
        rest, drawn = total, []
        for left in range(count - 1, 0, -1):
            smaller = rest * rng.random() ** (1 / left)
            drawn.append(rest - smaller)
            rest = smaller
        drawn.append(rest)
        if max(drawn) <= 1:
            return drawn


def draw(rng):
    cores = rng.randint(1, 4)
    count = rng.randint(2, 12)
    total = rng.uniform(0.5, 1) * min(cores, 0.75 * count)
    is_implicit = rng.random() < 0.5
    tasks, longest = [], 0
    periods = sorted(rng.sample(range(10, 101), count))
    for number, (period, part) in enumerate(zip(periods, utilizations(rng, count, total)), 1):
        execution = min(max(1, round(period * part)), period - 1)
        least = max(longest + 1, execution + 1, period // 2)
        longest = period if is_implicit else rng.randint(least, period)
        tasks.append(Task(f"task-{number}", period, execution, longest * 1000 - number))
    rng.shuffle(tasks)
    return TaskSet(cores, tasks)


def scenario(drawn, policy):
    lines = ["[platform]", f"cores = {drawn.cores}", 'budget = "0us"', 'blocking = "0us"', "capacity = 1", "[policy]",
             f'test = "{policy.test}"', "[experiment]", f'length = "{LENGTH}ms"',
             f'dispatchers = ["{policy.dispatcher}"]']
    for task in drawn.tasks:
        lines += ["[[task]]", f'label = "{task.label}"', f'period = "{task.period}ms"',
                  f'deadline = "{task.deadline}us"', f'budget = "{task.execution * 1000 // policy.divisor}us"',
                  f'execution_trace = ["{task.execution}ms"]', 'jitter = "0us"']
    return "\n".join(lines) + "\n"


def give_up(fault):
    """Says why the comparison cannot run, and ends it."""
    print(f"simso_compare.py: {fault}", file=sys.stderr)
    sys.exit(2)


def run_corelane(program, drawn, policy, folder):
    """Returns the finish times in ns by (label, job), and the cores of the admitted tasks by label. A core is None
    under a global policy."""
    file, jobs = os.path.join(folder, "set.toml"), os.path.join(folder, "jobs.csv")
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(scenario(drawn, policy))
    command = [program, "simulate", file, "--format", "json", "--jobs", jobs]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    except OSError as error:
        give_up(f"{program} cannot be started: {error.strerror}; build it with ./dev build, or name it with --program")
    if done.returncode not in (0, 1):  # 1: a task is refused, or a job is late
        give_up(f"{' '.join(command)} failed with status {done.returncode} on this file:\n{scenario(drawn, policy)}")
    cores = {task["label"]: task.get("core") for task in json.loads(done.stdout)["tasks"] if task["admitted"]}
    with open(jobs, encoding="utf-8", newline="") as stream:
        finished = {(row["task"], int(row["job"])): int(row["finish_ns"]) for row in csv.DictReader(stream)}
    return finished, cores


def run_simso(drawn, policy, cores):
    """Returns the finish times in ns by (label, job). Runs the tasks that have an entry in `cores`."""
    configuration = Configuration()
    configuration.cycles_per_ms = NS_PER_MS
    configuration.duration = LENGTH * NS_PER_MS
    configuration.scheduler_info.get_cls = lambda: policy.scheduler
    for core in range(drawn.cores):
        configuration.add_processor(name=f"core-{core}", identifier=core)
    for number, task in enumerate(drawn.tasks):
        if task.label in cores:
            configuration.add_task(name=task.label, identifier=number, period=task.period, wcet=task.execution,
                                   deadline=task.deadline / 1000, data={"core": cores[task.label]})
    model = Model(configuration)
    model.run_model()
    return {(task.name, number): job.end_date
            for task in model.task_list for number, job in enumerate(task.jobs) if job.end_date is not None}


def before_the_end(finished):
    """Leaves out what ends with the run or later: whether that counts is a choice."""
    return {job: time for job, time in finished.items() if time < LENGTH * NS_PER_MS}


def compare(program, drawn, policy, folder):
    """Returns the Count of a set, and a line for each differing job."""
    ours, cores = run_corelane(program, drawn, policy, folder)
    theirs = before_the_end(run_simso(drawn, policy, cores))
    ours = before_the_end(ours)
    deadlines = {task.label: (task.period * NS_PER_MS, task.deadline * 1000) for task in drawn.tasks}
    late, lines = 0, []
    for label, number in sorted(theirs.keys() | ours.keys()):
        our_time, their_time = ours.get((label, number)), theirs.get((label, number))
        period, deadline = deadlines[label]
        late += our_time is not None and our_time > number * period + deadline
        if our_time != their_time:
            lines.append(f"  {label}, job {number}: Corelane {our_time} ns, SimSo {their_time} ns")
    return Count(len(theirs.keys() | ours.keys()), late, len(lines)), lines


def compare_policy(program, policy, sets, folder):
    """Prints the line of a policy, and the first set with a difference. Returns whether no job differs."""
    rng = random.Random(SEED)
    total, shown = Count(0, 0, 0), []
    for number in range(1, sets + 1):
        drawn = draw(rng)
        count, lines = compare(program, drawn, policy, folder)
        total = Count(*map(sum, zip(total, count)))
        if lines and not shown:
            shown = [f"Set {number}:"] + lines[:SHOWN] + [scenario(drawn, policy)]
    print(f"{policy.name:16}{sets:6} sets{total.jobs:9} jobs{total.late:8} late{total.differing:6} different",
          flush=True)
    print("".join(line + "\n" for line in shown), end="", flush=True)
    return total.differing == 0


def main():
    parser = argparse.ArgumentParser(
        description="Compares the finish times of corelane simulate with those of SimSo 0.8.")
    parser.add_argument("--sets", type=int, default=250, metavar="N", help="random sets for each policy (250)")
    names = [policy.name for policy in POLICIES]
    parser.add_argument("--policies", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--program", default=os.path.join(ROOT, "build/bin/corelane"), metavar="PATH",
                        help="corelane (build/bin/corelane)")
    options = parser.parse_args()
    if options.sets < 1:
        parser.error("--sets must be at least 1")
    chosen = [policy for policy in POLICIES if policy.name in options.policies]
    with tempfile.TemporaryDirectory() as folder:
        equal = [compare_policy(options.program, policy, options.sets, folder) for policy in chosen]
    sys.exit(0 if all(equal) else 1)


if __name__ == "__main__":
    main()
