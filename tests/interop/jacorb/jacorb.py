#!/usr/bin/env python3
"""JacORB's naming client at corelane-nameserver: jacorb.py FOLDER_OF_PROGRAMS, with the folder of JacORB's jars in
CORELANE_JACORB_JARS."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FETCH = ("mvn -q -f tests/interop/jacorb/pom.xml dependency:copy-dependencies -DoutputDirectory=\"$PWD/build/jacorb\", "
         "then set CORELANE_JACORB_JARS to that folder")
LONGEST = 120  # seconds that a client may take

# Each request and its expected result. Of a reference only the beginning is compared.
STEPS = [
    ("list", "", ""),
    ("context", "plant", ""),
    ("context", "plant", "AlreadyBound"),
    ("bind", "plant/x.k", ""),
    ("bind", "plant/x.k", "AlreadyBound"),
    ("rebind", "plant/x.k", ""),
    ("bind", r"plant/a\/b", ""),
    ("bind", "plant/c", ""),
    ("bind", "plant/d", ""),
    ("bind", "plant/e", ""),
    ("resolve", "plant/x.k", "IOR:"),
    ("resolve", "plant/y", "NotFound missing_node y"),
    ("resolve", "plant/x.k/y", "NotFound not_context x"),
    ("resolve", "no/y", "NotFound missing_node no"),
    ("list", "", "plant/"),
    ("list", "plant", r"a\/b c d e x.k"),
    ("destroy", "plant", "NotEmpty"),
    ("unbind", "plant/x.k", ""),
    ("unbind", "plant/x.k", "NotFound missing_node x"),
    ("bind", "a//b", "InvalidName"),
]


def skip(reason):
    print("SKIPPED: " + reason)
    return 0


def agrees(got, wanted):
    return got.startswith(wanted) if wanted == "IOR:" else got == wanted


def compare(lines):
    """What is not as it was to be, in lines."""
    faults = [f"{len(lines)} answers to {len(STEPS)} steps"] if len(lines) != len(STEPS) else []
    for (what, name, wanted), line in zip(STEPS, lines):
        got = line.removeprefix(f"{what} {name}: ")
        if not agrees(got, wanted):
            faults.append(f"{what} '{name}' gave '{got}', not '{wanted}'")
    return faults


def run(programs, jars, folder):
    path = os.pathsep.join([folder, *jars])
    subprocess.run(["javac", "-nowarn", "-d", folder, "-cp", path, os.path.join(HERE, "NamingClient.java")], check=True)
    with subprocess.Popen([os.path.join(programs, "corelane-nameserver"), "-ORBRuntimeDirectory", folder,
                           "-ORBNamingStore", "memory", "-ORBEndpointListen", "127.0.0.1:0", "-ORBLogLevel", "off",
                           "-ORBNamingNetworkWriters", "on"],
                          stdout=subprocess.PIPE, text=True) as server:
        try:
            reference = server.stdout.readline().strip()
            words = [word for what, name, _ in STEPS for word in (what, name)]
            client = subprocess.run(["java", "-cp", path, "NamingClient", reference, *words], stdout=subprocess.PIPE,
                                    text=True, timeout=LONGEST, check=False)
            ours = subprocess.run([os.path.join(programs, "corelane"), "ns", "list", "-r", "--service", reference],
                                  capture_output=True, text=True, timeout=LONGEST, check=False)
        finally:
            server.terminate()
    faults = compare(client.stdout.splitlines())
    if client.returncode != 0:
        faults.append(f"the client ended with {client.returncode}")
    if ours.stdout.splitlines() != ["plant/", r"plant/a\/b", "plant/c", "plant/d", "plant/e"]:
        faults.append("corelane ns list shows something else: " + ours.stdout + ours.stderr)
    print("\n".join(faults) if faults else client.stdout + f"JacORB: {len(STEPS)} steps as they should be")
    return 1 if faults else 0


def main(programs):
    folder_of_jars = os.environ.get("CORELANE_JACORB_JARS", "")
    jars = sorted(glob.glob(os.path.join(folder_of_jars, "*.jar"))) if folder_of_jars else []
    if not jars:
        return skip("no jars of JacORB; fetch them with " + FETCH)
    if shutil.which("javac") is None:
        return skip("no javac here (Debian's default-jdk-headless)")
    with tempfile.TemporaryDirectory(prefix="corelane-jacorb-") as folder:
        return run(programs, jars, folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
