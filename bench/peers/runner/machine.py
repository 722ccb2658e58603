"""Facts of the machine and of the run that a reader needs to compare numbers."""
import datetime
import os
import platform
import subprocess


def _first_line(path, fallback):
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip() or fallback
    except OSError:
        return fallback


def _processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    except OSError:
        return "unknown processor"


def _answer(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def real_time_is_granted():
    """Returns whether this user's threads may run under SCHED_FIFO, which some of Corelane's threads use. Tries it in a
    child."""
    child = os.fork()
    if child == 0:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def versions_of(packages):
    """Returns the versions of those Debian packages that are installed."""
    if not packages:
        return ""
    lines = _answer("dpkg-query", "-W", "-f", "${Package} ${Version}\n", *packages).splitlines()
    return ", ".join(line for line in lines if len(line.split()) == 2)


def facts(rounds, packages, left_out):
    governor = _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not told")
    cores = len(os.sched_getaffinity(0))
    return {
        "machine": f"{_processor()}, {cores} usable cores, Linux {platform.release()}, frequency governor {governor}",
        "scheduling": f"SCHED_FIFO is {'granted' if real_time_is_granted() else 'not granted'}",
        "commit": _answer("git", "-C", os.path.dirname(os.path.abspath(__file__)), "describe", "--always", "--dirty") or "unknown",
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "rounds": rounds,
        "load": f"load average {os.getloadavg()[0]:.1f} at the start",
        "versions": versions_of(packages),
        "left_out": left_out,
    }
