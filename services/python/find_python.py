#!/usr/bin/env python3
"""Prints what CMake has to know about this interpreter, as a list: the ending of compiled modules, the folder of Python.h,
and the folder of pybind11. A folder that lacks its header is empty. Fails if the interpreter has no pandas."""
import importlib.util
import os
import sys
import sysconfig

if not importlib.util.find_spec("pandas"):
    sys.exit("pandas is missing")
folders = ["/usr/include"]
if importlib.util.find_spec("pybind11"):
    import pybind11
    folders.insert(0, pybind11.get_include())


def folder_with(header, places):
    return next((place for place in places if os.path.exists(os.path.join(place, header))), "")


print(sysconfig.get_config_var("EXT_SUFFIX"), folder_with("Python.h", [sysconfig.get_paths()["include"]]),
      folder_with("pybind11/pybind11.h", folders), sep=";", end="")
