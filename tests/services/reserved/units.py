#!/usr/bin/env python3
"""systemd's own check of the units: units.py PROGRAM UNIT ... (PROGRAM stands in for what they start)."""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def main(program, units):
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
