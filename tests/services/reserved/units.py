#!/usr/bin/env python3
"""Runs systemd's own check of the units: units.py PROGRAM CMAKE SCRIPT UNIT ... PROGRAM stands in for the programs that
they start. SCRIPT is the build's installation script.

Also makes two checks of its own. A unit must start the program where the installation puts it, for every prefix. A
service with network sockets must be able to read the host's own addresses, which getifaddrs() asks for by netlink.
Otherwise its references contain 127.0.0.1 for clients on other hosts.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def lacks_netlink(unit):
    """Returns a complaint if the unit allows its service IP sockets but not netlink."""
    with open(unit, encoding="utf-8") as file:
        allowed = re.findall(r"^RestrictAddressFamilies=(.*)$", file.read(), flags=re.M)
    families = " ".join(allowed).split()
    if "AF_INET" not in families or "AF_NETLINK" in families:
        return []
    return [os.path.basename(unit) + ": RestrictAddressFamilies has AF_INET and lacks AF_NETLINK"]


def starts_elsewhere(cmake, script, units):
    """Installs to a prefix that was not configured. Returns a complaint for each unit that starts a program of another
    prefix."""
    complaints = []
    with tempfile.TemporaryDirectory(prefix="corelane-units-") as prefix:
        subprocess.run([cmake, "-DCMAKE_INSTALL_LOCAL_ONLY=1", "-DCMAKE_INSTALL_PREFIX=" + prefix, "-P", script],
                       check=True, stdout=subprocess.DEVNULL, cwd=prefix)
        for unit in map(os.path.basename, units):
            with open(os.path.join(prefix, "lib/systemd/system", unit), encoding="utf-8") as file:
                started = re.findall(r"^ExecStart=(.*)$", file.read(), flags=re.M)
            wanted = [f"{prefix}/bin/{unit.removesuffix('.service')}"] if unit.endswith(".service") else []
            if started != wanted:
                complaints.append(f"{unit}: installed to {prefix}, it starts {started}")
    return complaints


def main(program, cmake, script, units):
    lacking = [line for unit in units for line in lacks_netlink(unit)] + starts_elsewhere(cmake, script, units)
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
    sys.exit(main(*sys.argv[1:4], sys.argv[4:]))
