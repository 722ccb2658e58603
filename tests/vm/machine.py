#!/usr/bin/env python3
"""Runs a program as root of a whole machine that nobody else uses. The machine is a small virtual one with a kernel of
Debian. The program and its libraries are in the first file system.

    machine.py [option ...] PROGRAM [ARGUMENT ...]
    machine.py --fetch [--package NAME] [--kernel FOLDER]
                          downloads a kernel of Debian and busybox into the kernel folder; installs nothing. NAME:
                          linux-image-cloud-amd64 (default), linux-image-amd64, or linux-image-rt-amd64 with Debian's
                          real-time patches

      --groups v1|v2|none   which control groups are mounted: the controllers cpuset and cpu of v1, all of v2, or none
                            (default: v2)
      --systemd             this host's systemd is the first process and starts the program. It takes --groups v1 or v2.
                            Add units with --file UNIT=etc/systemd/system/UNIT
      --cpus N --memory MB  of the machine (4, 768)
      --limit SECONDS       how long the program may run (300)
      --boot SECONDS        how long the kernel may take to start the program (60)
      --accel NAME          of qemu: tcg (default), which runs everywhere, or kvm
      --instruction-clock   the machine's time is the count of its instructions, 2 ns each, and idle time is skipped. A
                            busy host then delays nothing that the program measures. It takes --cpus 1 and no kvm
      --kernel FOLDER       where vmlinuz and busybox are (build/vm)
      --file FROM[=TO]      copies another file into the machine, with its libraries if it is a program. Files without
                            TO, and PROGRAM, are in /corelane
      --set NAME=VALUE      in the program's environment

The exit status is that of the program, or 1 if the machine ends while the program runs. If the program cannot be
tested here, the script prints "SKIPPED: " with the reason, and exits with 0: there is no qemu or no kernel, or the
machine does not start or end in time.
"""
import argparse
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QEMU = "qemu-system-x86_64"
SYSTEMD = "/lib/systemd/systemd"
STARTED = "corelane-machine: started"
ENDED = re.compile(r"corelane-machine: status (\d+)")
ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|c)")

BUSYBOX_INIT = f"""#!/bin/busybox sh
export PATH=/bin HOME=/tmp LC_ALL=C
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /etc
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t debugfs debug /sys/kernel/debug
ip link set lo up
case "$corelane_groups" in
  v1)
    mount -t tmpfs groups /sys/fs/cgroup
    for controller in cpuset cpu; do
      mkdir /sys/fs/cgroup/$controller
      mount -t cgroup -o $controller $controller /sys/fs/cgroup/$controller
    done
    ;;
  v2) mount -t cgroup2 groups /sys/fs/cgroup ;;
esac
echo "{STARTED}"
cd /corelane
sh ./command </dev/null
echo "corelane-machine: status $?"
poweroff -f
"""

# systemd mounts what it needs. It mounts control groups as the kernel's command line says.
SYSTEMD_INIT = f"""#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /var/tmp /home /root /boot
/bin/busybox --install -s /bin
exec {SYSTEMD} </dev/console >/dev/console 2>&1
"""
SYSTEMD_GROUPS = {
    "v1": "systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1",
    "v2": "systemd.unified_cgroup_hierarchy=1"
}
BARE_UNIT = "[Unit]\nDescription=a stage of the start\nDefaultDependencies=no\n"
SYSTEMD_UNITS = {
    **dict.fromkeys(("sysinit.target", "basic.target", "sockets.target", "shutdown.target"), BARE_UNIT),
    "default.target": BARE_UNIT + "Wants=program.service\n",
    "program.service": f"""[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
TimeoutStartSec=infinity
WorkingDirectory=/corelane
Environment=PATH=/bin HOME=/tmp LC_ALL=C
StandardOutput=file:/dev/console
StandardError=inherit
ExecStart=/bin/sh -c 'echo "{STARTED}"; sh ./command </dev/null; echo "corelane-machine: status $?"; poweroff -f'
"""
}
# The machine has one user.
ACCOUNTS = {"etc/passwd": "root:x:0:0::/tmp:/bin/sh\n", "etc/group": "root:x:0:\n"}


class Untestable(Exception):
    pass


# ---- The first file system: cpio's "newc" ----------------------------------------------------------------------------


class Image:
    def __init__(self):
        self.parts, self.folders, self.number = [], set(), 0

    def _entry(self, path, mode, content=b"", device=(0, 0)):
        self.number += 1
        name = path.strip("/").encode() + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
        self.parts += [head, b"\0" * (-len(head) % 4), content, b"\0" * (-len(content) % 4)]

    def folder(self, path):
        path = path.strip("/")
        if path and path not in self.folders:
            self.folder(os.path.dirname(path))
            self.folders.add(path)
            self._entry(path, 0o40755)

    def file(self, path, content, mode=0o755):
        self.folder(os.path.dirname(path))
        self._entry(path, 0o100000 | mode, content)

    def console(self):
        self.folder("dev")
        self._entry("dev/console", 0o20600, device=(5, 1))

    def bytes(self):
        self._entry("TRAILER!!!", 0)
        return b"".join(self.parts)


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def stripped(path, folder):
    result = os.path.join(folder, "stripped")
    done = subprocess.run(["strip", "-o", result, path], capture_output=True)
    return content_of(result if done.returncode == 0 else path)


def libraries_of(path):
    """Returns the paths of the program's libraries, including the dynamic linker; none for a static program or another
    file."""
    told = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    if "not found" in told:
        raise Untestable(f"{path} lacks libraries: {told}")
    return set(re.findall(r"(/\S+) \(0x", told))


def files_of(options):
    """Returns FROM[=TO] of all files that a machine has besides its kernel."""
    systemctl = shutil.which("systemctl") or "systemctl"
    systemd = [f"{SYSTEMD}={SYSTEMD}", f"{systemctl}=bin/systemctl"] if options.systemd else []
    return [options.program[0], *options.file, *systemd]


def image_of(options, folder):
    image = Image()
    image.console()
    image.file("init", (SYSTEMD_INIT if options.systemd else BUSYBOX_INIT).encode())
    image.file("bin/busybox", content_of(os.path.join(options.kernel, "busybox")))
    for path, content in ACCOUNTS.items():
        image.file(path, content.encode(), 0o644)
    if options.systemd:
        for unit, content in SYSTEMD_UNITS.items():
            image.file("etc/systemd/system/" + unit, content.encode(), 0o644)
    libraries = set()
    for text in files_of(options):
        source, _, target = text.partition("=")
        libraries |= libraries_of(source)
        path = target or "corelane/" + os.path.basename(source)
        image.file(path, stripped(source, folder), os.stat(source).st_mode & 0o777)
    for library in sorted(libraries):
        image.file(library, content_of(library))
    words = ["./" + os.path.basename(options.program[0]), *options.program[1:]]
    image.file("corelane/command", (shlex.join(["env", *options.set, *words]) + "\n").encode())
    path = os.path.join(folder, "image")
    with open(path, "wb") as file:
        file.write(image.bytes())
    return path


# ---- The machine -----------------------------------------------------------------------------------------------------


def command_of(options, image):
    said = f"console=ttyS0 quiet loglevel=4 panic=-1 corelane_groups={options.groups}"
    if options.systemd:
        said += f" {SYSTEMD_GROUPS[options.groups]} systemd.show_status=no"
    clock = ["-icount", "shift=1,sleep=off"] if options.instruction_clock else []
    return [
        QEMU, *clock, "-accel", options.accel, "-machine", "q35", "-cpu", "max", "-smp", str(options.cpus),
        "-m", str(options.memory), "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio",
        "-kernel", os.path.join(options.kernel, "vmlinuz"), "-initrd", image, "-append", said
    ]


def lines_of(machine, deadline_of):
    """Yields the lines of the machine's console, until the machine ends or the deadline passes."""
    rest = b""
    while True:
        left = deadline_of() - time.monotonic()
        if left <= 0 or not select.select([machine.stdout], [], [], left)[0]:
            return
        part = os.read(machine.stdout.fileno(), 65536)
        if not part:
            return
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield ESCAPES.sub("", line.decode(errors="replace")).rstrip("\r")


def watch(machine, options):
    """Returns the program's exit status; 1 if the machine ends while the program runs."""
    begun, started, early = time.monotonic(), None, []

    def deadline():
        return begun + options.boot if started is None else started + options.limit

    for line in lines_of(machine, deadline):
        ended = ENDED.search(line)
        if ended:
            if ended.start() > 0:  # the program's last line has no end
                print(line[:ended.start()], flush=True)
            return int(ended.group(1))
        if line == STARTED:
            started = time.monotonic()
        elif started is None:
            early.append(line)
        else:
            print(line, flush=True)
    in_time = time.monotonic() < deadline()
    if started is None:
        print("\n".join(early[-20:]))
        raise Untestable("the virtual machine ended before it started the program" if in_time else
                         f"the kernel did not start the program within {options.boot} s")
    if in_time:
        print("machine.py: the virtual machine ended while the program ran; look for the kernel's last words above")
        return 1
    raise Untestable(f"the virtual machine did not tell the program's status within {options.limit} s")


def run(options):
    for name in ("vmlinuz", "busybox"):
        if not os.path.exists(os.path.join(options.kernel, name)):
            raise Untestable(f"no {name} in {options.kernel}: './dev test --vm' fetches Debian's")
    if shutil.which(QEMU) is None:
        raise Untestable(f"no {QEMU}: './dev test --vm' installs Debian's qemu-system-x86")
    if options.systemd and not os.path.exists(SYSTEMD):
        raise Untestable(f"no {SYSTEMD}: './dev test --vm' installs Debian's systemd")
    for path in (text.partition("=")[0] for text in files_of(options)):
        if not os.path.exists(path):
            raise Untestable(f"{path} is not built: './dev test --vm' builds it")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="corelane-vm-") as folder:
        command = command_of(options, image_of(options, folder))
        machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        try:
            return watch(machine, options)
        finally:
            machine.kill()
            machine.wait()


# ---- The kernel ------------------------------------------------------------------------------------------------------


def unpack(package, folder):
    """Downloads and unpacks a Debian package. Returns the folder with its files."""
    subprocess.run(["apt-get", "-q", "download", package], cwd=folder, check=True)
    archive = next(name for name in os.listdir(folder) if name.startswith(package + "_"))
    unpacked = os.path.join(folder, "files-of-" + package)
    subprocess.run(["dpkg-deb", "-x", os.path.join(folder, archive), unpacked], check=True)
    return unpacked


def fetch(name, kernel):
    if shutil.which("apt-get") is None:
        raise Untestable("no apt-get, which downloads Debian's packages")
    depends = subprocess.run(["apt-cache", "depends", name], capture_output=True, text=True).stdout
    package = re.search(r"Depends: (linux-image-\S+)", depends)
    if not package:
        raise Untestable(f"apt knows no {name}; run apt-get update")
    os.makedirs(kernel, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kernel) as folder:
        boot = os.path.join(unpack(package.group(1), folder), "boot")
        image = next(name for name in os.listdir(boot) if name.startswith("vmlinuz"))
        shutil.move(os.path.join(boot, image), os.path.join(kernel, "vmlinuz"))
        busybox = os.path.join(unpack("busybox-static", folder), "bin", "busybox")
        shutil.move(busybox, os.path.join(kernel, "busybox"))
    print(f"{package.group(1)} and busybox are in {kernel}")
    return 0


def parse(arguments):
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--package", default="linux-image-cloud-amd64")
    parser.add_argument("--groups", choices=("v1", "v2", "none"), default="v2")
    parser.add_argument("--systemd", action="store_true")
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--memory", type=int, default=768)
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--boot", type=float, default=60)
    parser.add_argument("--accel", default="tcg")
    parser.add_argument("--instruction-clock", action="store_true")
    parser.add_argument("--kernel", default=os.path.join(ROOT, "build", "vm"))
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if not options.fetch and not options.program:
        parser.error("name the PROGRAM to run, or --fetch")
    if options.systemd and options.groups not in SYSTEMD_GROUPS:
        parser.error("--systemd takes --groups v1 or v2")
    if options.instruction_clock and (options.cpus != 1 or options.accel != "tcg"):
        parser.error("--instruction-clock takes --cpus 1 and --accel tcg")
    return options


def main(arguments):
    options = parse(arguments)
    try:
        return fetch(options.package, options.kernel) if options.fetch else run(options)
    except Untestable as reason:
        print(f"SKIPPED: {reason}")
    except subprocess.CalledProcessError as fault:
        print(f"SKIPPED: {shlex.join(fault.cmd)} failed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
