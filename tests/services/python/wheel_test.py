#!/usr/bin/env python3
"""Makes the wheel, installs it into a folder of its own, and plans with it in another process.

    wheel_test.py SOURCE PACKAGES

SOURCE is the root of the source tree. PACKAGES is the folder that contains the built package.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile

SOURCE, PACKAGES = sys.argv[1:]
USE = "import corelane; print(corelane.__file__); print(corelane.plan({'task': [{'period': '10ms', 'budget': '1ms'}]}, cores=1).sets.columns)"


def install(wheel, folder):
    """Installs with pip if this interpreter has it. Otherwise unpacks the wheel, which is what pip would do."""
    if importlib.util.find_spec("pip"):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", folder, wheel],
                       check=True, env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore"})
    else:
        zipfile.ZipFile(wheel).extractall(folder)


with tempfile.TemporaryDirectory() as place:
    made = subprocess.run([sys.executable, "-B", f"{SOURCE}/services/python/make_wheel.py", f"{PACKAGES}/corelane", "0.1.0", place],
                          check=True, capture_output=True, text=True).stdout
    wheel = made.removeprefix("Wheel: ").strip()
    names = zipfile.ZipFile(wheel).namelist()
    assert "corelane/__init__.py" in names and "corelane-0.1.0.dist-info/RECORD" in names, names
    folder = os.path.join(place, "site")
    install(wheel, folder)
    shown = subprocess.run([sys.executable, "-B", "-c", USE], check=True, capture_output=True, text=True, cwd=place,
                           env={**os.environ, "PYTHONPATH": folder}).stdout
    assert shown.startswith(folder), shown
    assert "fewest_cores" in shown, shown
    print(shown)
