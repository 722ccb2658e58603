#!/usr/bin/env python3
"""Packs the built package into a wheel (PEP 427), with the standard library alone.

    make_wheel.py PACKAGE VERSION OUTPUT

PACKAGE is the folder `corelane` with the compiled module. The wheel goes into the folder OUTPUT. It is for this
interpreter, and for Linux on this kind of machine with at least the C library of this host.
"""
import base64
import hashlib
import os
import platform
import sys
import zipfile

METADATA = """Metadata-Version: 2.1
Name: corelane
Version: {version}
Summary: Plans, simulations and sweeps of real-time task sets, as pandas data frames
License: Apache-2.0
Requires-Python: =={python}.*
Requires-Dist: pandas>=1.5
"""
WHEEL = """Wheel-Version: 1.0
Generator: corelane
Root-Is-Purelib: false
Tag: {tag}
"""


def digest_of(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def files_of(package):
    """Yields the names of the files in the wheel with their contents."""
    for name in sorted(os.listdir(package)):
        path = os.path.join(package, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                yield "corelane/" + name, file.read()


def make_wheel(package, version, output):
    major, minor = sys.version_info[:2]
    tag = f"cp{major}{minor}-cp{major}{minor}-linux_{platform.machine()}"
    info = f"corelane-{version}.dist-info"
    files = [*files_of(package),
             (f"{info}/METADATA", METADATA.format(version=version, python=f"{major}.{minor}").encode()),
             (f"{info}/WHEEL", WHEEL.format(tag=tag).encode())]
    record = "".join(f"{name},{digest_of(content)},{len(content)}\n" for name, content in files)
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode()))
    path = os.path.join(output, f"corelane-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files:
            wheel.writestr(name, content)
    return path


if __name__ == "__main__":
    print("Wheel:", make_wheel(*sys.argv[1:]))
