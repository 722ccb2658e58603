#!/usr/bin/env python3
"""Compares verdicts and repository ids with those of omniidl, for every IDL file below some folders.

    compare_ids.py CORELANE-IDL FOLDER...     exit 1 when a verdict or an id differs, 77 when omniidl is not installed
"""
import concurrent.futures
import json
import os
import subprocess
import sys

DEFINES = ["-D__OMNIIDL__"]  # the corpus needs it where it escapes names
HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST = 60  # seconds for one file; longer is a hang


def files_below(folders):
    for folder in folders:
        for path, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith((".idl", ".pidl")):
                    yield os.path.join(path, name)


def roots_of(folders):
    """Returns every folder that contains IDL: the files of the corpus include each other by name alone."""
    return sorted({os.path.dirname(path) for path in files_below(folders)})


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LONGEST)


def ids_of_omniidl(path, roots):
    done = run(["omniidl", *DEFINES, *("-I" + root for root in roots), "-p", HERE, "-bomniidl_ids", path])
    if "Traceback" in done.stderr:
        sys.exit("%s: the back end failed\n%s" % (path, done.stderr))
    if done.returncode != 0:
        return None
    return {tuple(line.split(" ", 1)) for line in done.stdout.splitlines()}


def walk(definitions, scope, found):
    for item in definitions:
        name = item["name"]
        found.add((name, item["id"]))
        for part in ("operations", "attributes"):  # omniidl gives factories no id
            for feature in item.get(part, []):
                found.add((name + "::" + feature["name"], feature["id"]))
        outer = name.rpartition("::")[0]
        for enumerator in item.get("enumerators", []):
            found.add(((outer + "::" if outer else "") + enumerator["name"], enumerator["id"]))
        walk(item.get("contents", []), name, found)


def ids_of_corelane(program, path, roots):
    done = run([program, *DEFINES, *(word for root in roots for word in ("-I", root)), "--dump-model", "json", path])
    if done.returncode < 0 or done.returncode > 1:
        sys.exit("%s: corelane-idl ended with %d\n%s" % (path, done.returncode, done.stderr))
    if done.returncode != 0:
        return None, done.stderr
    found = set()
    walk(json.loads(done.stdout)["definitions"], "", found)
    return found, ""


def compare(program, path, roots):
    """Returns the differences of one file as lines, and how many ids agree; None if both compilers refuse it."""
    theirs = ids_of_omniidl(path, roots)
    ours, message = ids_of_corelane(program, path, roots)
    if theirs is None and ours is None:
        return [], None
    if theirs is None:
        return [path + ": accepted, and refused by omniidl"], 0
    if ours is None:
        return [path + ": refused, and accepted by omniidl\n" + message], 0
    lines = ["%s: only corelane-idl has %s %s" % (path, *pair) for pair in sorted(ours - theirs)]
    lines += ["%s: only omniidl has %s %s" % (path, *pair) for pair in sorted(theirs - ours)]
    return lines, len(ours & theirs)


def main(program, folders):
    try:
        run(["omniidl", "-V"])
    except FileNotFoundError:
        print("SKIPPED: omniidl is not installed")
        return 77
    folders = [folder for folder in folders if os.path.isdir(folder)]
    if not folders:
        print("SKIPPED: none of the folders is there")
        return 77
    roots = roots_of(folders)
    paths = list(files_below(folders))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: compare(program, path, roots), paths))
    differences = [line for lines, _ in results for line in lines]
    print("\n".join(differences))
    refused = [path for path, (_, same) in zip(paths, results) if same is None]
    print("\n".join("refused by both: " + path for path in refused))
    print("%d files, %d refused by both, %d equal ids, %d differences"
          % (len(paths), len(refused), sum(same or 0 for _, same in results), len(differences)))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
