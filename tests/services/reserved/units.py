#!/usr/bin/env python3
"""systemd's own check of the units: units.py PROGRAM UNIT ... (PROGRAM stands in for what they start).

And one of ours: a service with network sockets has to learn the host's own addresses (getifaddrs asks by netlink), or
its references name 127.0.0.1 to clients of other hosts."""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def lacks_netlink(unit):
    """A complaint where the unit lets its service have IP sockets and none of netlink."""
    with open(unit, encoding="utf-8") as file:
        allowed = re.findall(r"^RestrictAddressFamilies=(.*)$", file.read(), flags=re.M)
    families = " ".join(allowed).split()
    if "AF_INET" not in families or "AF_NETLINK" in families:
        return []
    return [os.path.basename(unit) + ": RestrictAddressFamilies has AF_INET and lacks AF_NETLINK"]


def main(program, units):
    lacking = [line for unit in units for line in lacks_netlink(unit)]
    if lacking:
        print("\n".join(lacking))
        return 1
    if shutil.which("systemd-analyze") is None:
        print("SKIPPED: no systemd-analyze here")
        return 0
    with tempfile.TemporaryDirectory(prefix="corelane-units-") as folder:
        copies = []
        for unit in units:
            with open(unit, encoding="utf-8") as file:
                text = re.sub(r"^ExecStart=.*$", "ExecStart=" + program, file.read(), flags=re.M)
            copies.append(os.path.join(folder, os.path.basename(unit)))
            with open(copies[-1], "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *copies], capture_output=True, text=True)
    told = [line for line in (done.stdout + done.stderr).splitlines() if "corelane" in line]
    print("\n".join(told))
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
