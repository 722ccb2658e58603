#!/usr/bin/env python3
"""Installs a build into a folder of its own, builds the quickstart against it as docs/tutorial.md says, and runs it.

    package_test.py cmake|pkg-config|subdirectory BUILD SOURCE

As a subdirectory, which a symbolic link names, nothing is installed. The project is only configured. The test checks
that its build would make the programs, and of Corelane only what these use.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

# From docs/broker.md, for an installed Corelane.
BY_NAME = """#include <iostream>
#include "services/nameserver/broker/channel_by_name.h"
int main(int, char** argv) {
  const auto opened = corelane::nameserver::open_channel(argv[1], "plant/controller", {}, corelane::Time{});
  std::cout << (opened ? "open" : opened.error().text) << "\\n";
}
"""
BUILD_BY_NAME = """
add_executable(by_name by_name.cpp)
target_link_libraries(by_name PRIVATE corelane::services_nameserver_broker)
"""

# From docs/using.md: a server that binds its own name.
BINDING = """#include <iostream>
#include "orb/corba/orb.h"
#include "services/nameserver/client/registration.h"
int main(int argc, char** argv) {
  auto orb = CORBA::ORB_init(argc, argv);
  try {
    const corelane::naming::Registration name(orb, "plant/controller", orb->string_to_object("corbaloc::127.0.0.1:1/x"));
  } catch (const CORBA::Exception& fault) {
    std::cout << fault.what() << "\\n";
  }
  orb->destroy();
}
"""
BUILD_BINDING = """
add_executable(binding binding.cpp)
target_link_libraries(binding PRIVATE corelane::client corelane::registration)
"""

# Programs that a project with Corelane as a subdirectory does not request.
UNASKED = ["corelane/bin/corelane", "corelane/bin/corelane-nameserver", "corelane/bin/corelane-pendulum"]

BEGIN = "cmake_minimum_required(VERSION 3.25)\nproject(plant CXX)\n"
FOUND = BEGIN + "find_package(corelane 0.1 REQUIRED)\n"
# Mistakes that are refused, and words of the reason.
WITHOUT_ACE = [(BEGIN + "set(CMAKE_DISABLE_FIND_PACKAGE_ACE TRUE)\nfind_package(corelane 0.1 REQUIRED)", "libace-dev")]
MISTAKES = [
    (BEGIN + "find_package(corelane 0.9 REQUIRED)", "0.9"),
    (BEGIN + "find_package(corelane 0.1 REQUIRED COMPONENTS naming tracing)", "Corelane has no component tracing."),
    (FOUND + "corelane_idl_generate(TARGET plant FILE plant.idl)", "FILE stands behind no keyword"),
    (FOUND + "corelane_idl_generate(plant plant.idl)", "plant stands behind no keyword"),
    (FOUND + "corelane_idl_generate(FILES plant.idl)", "TARGET, the library that is to be made, is missing"),
    (FOUND + "corelane_idl_generate(TARGET plant)", "FILES, the IDL files of plant, is missing"),
    (FOUND + "corelane_idl_generate(TARGET plant FILES plnt.idl)", "other/plnt.idl; names in FILES are relative to ROOT"),
    (FOUND + "corelane_idl_generate(TARGET plant FILES CMakeLists.txt)", "its name does not end in .idl"),
    (FOUND + "add_library(plant INTERFACE)\ncorelane_idl_generate(TARGET plant FILES plant.idl)", "a target plant already"),
]


def run(*command, **options):
    """Returns what the command printed, without its diagnostics. Ends the test if it failed."""
    done = subprocess.run(command, text=True, capture_output=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}\nended with {done.returncode}")
    return done.stdout


def build_with_cmake(folder, prefix, source):
    with open(f"{source}/docs/tutorial.md", encoding="utf-8") as page:
        text = re.search("```cmake\n(.*?)```", page.read(), re.DOTALL).group(1)
    write(folder, "CMakeLists.txt", text + BUILD_BY_NAME + BUILD_BINDING)
    write(folder, "by_name.cpp", BY_NAME)
    write(folder, "binding.cpp", BINDING)
    run("cmake", "-S", folder, "-B", f"{folder}/build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", f"{folder}/build")
    said = run(f"{folder}/build/by_name", f"{folder}/broker.sock")
    if "broker" not in said:
        sys.exit(f"without a broker a channel by name said {said!r}")
    said = run(f"{folder}/build/binding", "-ORBNamingService", "corbaloc::127.0.0.1:1/NameService")
    if "127.0.0.1:1" not in said:
        sys.exit(f"a registration without a nameserver said {said!r}")
    says_what_is_wrong(folder, prefix)
    return f"{folder}/build"


def says_what_is_wrong(folder, prefix):
    other = f"{folder}/other"
    os.mkdir(other)
    write(other, "plant.idl", "interface Plant {};\n")
    with open(glob.glob(f"{prefix}/**/corelaneConfig.cmake", recursive=True)[0]) as config:
        has_ace = "if(TRUE)" in config.read()
    for text, words in MISTAKES + (WITHOUT_ACE if has_ace else []):
        asked = configure(other, prefix, text)
        if asked.returncode == 0 or words not in " ".join(asked.stderr.split()):
            sys.exit(f"not refused with \"{words}\":\n{text}\n{asked.stdout}{asked.stderr}")
    asked = configure(other, prefix, BEGIN + "find_package(corelane 0.1 REQUIRED COMPONENTS naming rt OPTIONAL_COMPONENTS tracing)")
    if asked.returncode != 0:
        sys.exit(f"targets are no components:\n{asked.stdout}{asked.stderr}")


def configure(folder, prefix, text):
    write(folder, "CMakeLists.txt", text + "\n")
    return subprocess.run(["cmake", "-S", folder, "-B", f"{folder}/build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"], text=True,
                          capture_output=True)


def build_with_pkg_config(folder, prefix, source):
    with open(f"{source}/docs/tutorial.md", encoding="utf-8") as page:
        commands = re.search("```sh\n(.*?)```", page.read(), re.DOTALL).group(1)
    run("bash", "-euc", commands.replace("~/opt/corelane", prefix), cwd=folder)
    return folder


def configure_beside(folder, source):
    with open(f"{source}/docs/tutorial.md", encoding="utf-8") as page:
        text = re.search("```cmake\n(.*?)```", page.read(), re.DOTALL).group(1)
    write(folder, "CMakeLists.txt", text.replace("find_package(corelane 0.1 REQUIRED)", "add_subdirectory(corelane)"))
    os.symlink(source, f"{folder}/corelane")
    run("cmake", "-S", folder, "-B", f"{folder}/build", "-G", "Ninja")
    commands = run("ninja", "-C", f"{folder}/build", "-t", "commands", "all")
    for program in ("server", "client", "corelane/bin/corelane-idl", *UNASKED):
        is_asked_for = program not in UNASKED
        if (f" -o {program} " in commands) != is_asked_for:
            sys.exit(f"{program} is {'not ' if is_asked_for else ''}built by default")
    parts_are_found(f"{folder}/corelane", f"{folder}/build")


def parts_are_found(source, build):
    """Checks that each file that a joint file includes is where a compiler looks for it. Absolute paths name files that
    are not made yet."""
    joint = glob.glob(f"{build}/corelane/**/*_joint/*.cpp", recursive=True)
    parts = [part for name in joint for part in re.findall('#include "(.*)"', open(name, encoding="utf-8").read())]
    if not parts:
        sys.exit("no file of Corelane's is compiled together with others")
    for part in parts:
        if not os.path.isabs(part) and not os.path.exists(os.path.join(source, part)):
            sys.exit(f"a joint file includes {part}, which is not there")


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def call(programs):
    # Best effort, so that it works on every machine: this tests that the programs are complete.
    server = subprocess.Popen([f"{programs}/server", "-ORBPoolRealTime", "off", "-ORBRuntimeLedger", "off",
                               "-ORBDispatchAdmission", "off"], text=True, stdout=subprocess.PIPE)
    try:
        answer = run(f"{programs}/client", server.stdout.readline().strip())
    finally:
        server.terminate()
        server.wait()
    if answer.strip() != "-2":
        sys.exit(f"the client printed {answer!r} instead of -2")


def links_lead_somewhere(docs):
    pages = glob.glob(f"{docs}/**/*.md", recursive=True)
    if f"{docs}/README.md" not in pages:
        sys.exit(f"README.md is not installed to {docs}")
    for page in pages:
        with open(page, encoding="utf-8") as text:
            prose = re.sub("```.*?```|`[^`]*`", "", text.read(), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)", prose):
            if "://" not in link and not os.path.exists(os.path.join(os.path.dirname(page), link)):
                sys.exit(f"{page} links to {link}, which is not installed")


def main():
    way, build, source = sys.argv[1:]
    if way == "pkg-config" and not shutil.which("pkg-config"):
        return print("SKIPPED: there is no pkg-config here")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("plant.idl", "server.cpp", "client.cpp"):
            shutil.copy(f"{source}/examples/quickstart/{name}", folder)
        if way == "subdirectory":
            return configure_beside(folder, source)
        prefix = f"{folder}/installed"
        run("cmake", "--install", build, "--prefix", prefix)
        links_lead_somewhere(f"{prefix}/share/doc/corelane")
        call((build_with_cmake if way == "cmake" else build_with_pkg_config)(folder, prefix, source))


if __name__ == "__main__":
    main()
