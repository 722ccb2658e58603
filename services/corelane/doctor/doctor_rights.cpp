// Checks of what this process may do: priorities, memory, descriptors, and what the kernel offers it.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "services/corelane/doctor/finding.h"

namespace corelane::tool {
namespace {

constexpr long long enough_descriptors = 4096;

// Returns commands that raise the limits of this shell now, and of the user's next login.
std::vector<std::string> raise_limits(const HostView& host) {
  if (host.facts.root) return {"prlimit --pid $$ --rtprio=99:99 --memlock=unlimited:unlimited"};
  return {"sudo prlimit --pid $$ --rtprio=99:99 --memlock=unlimited:unlimited",
          "printf '%s - rtprio 99\\n%s - memlock unlimited\\n' " + host.facts.user + " " + host.facts.user +
              " | sudo tee /etc/security/limits.d/corelane.conf"};
}

std::string limits_note(const HostView& host) {
  return std::string(host.facts.root ? "for this shell and what it starts"
                                     : "the first is for this shell and what it starts, the second for log-ins to "
                                       "come") +
         "; in a unit of systemd: LimitRTPRIO=99, LimitMEMLOCK=infinity; in a container: --cap-add SYS_NICE --cap-add "
         "IPC_LOCK";
}

Finding look_at_fifo(const HostView& host) {
  Finding finding{.name = "SCHED_FIFO", .found = "threads may have priorities 2 to 49"};
  if (host.facts.fifo) return finding;
  finding.state = FindingState::missing;
  finding.cost = "tasks compete with every other program of this machine: deadlines may be missed at any load";
  if (host.facts.fifo_group_zero) {
    finding.found = "the right is there, but the control group has no real-time time: see real-time group";
    return finding;
  }
  finding.found = "refused";
  finding.commands = raise_limits(host);
  finding.note = limits_note(host);
  return finding;
}

// The mount of cgroup v1's controller cpu, and this process's group in it.
struct CpuGroup {
  std::string mount, path;
};

std::optional<CpuGroup> cpu_group(const HostFiles& files) {
  CpuGroup group;
  if (const auto mount = os::cgroup_mount(files.mounts(), "cpu")) group.mount = mount->point;
  for (const std::string& line : files.lines("/proc/self/cgroup")) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    if (os::has_word(line.substr(first + 1, second - first - 1), "cpu")) group.path = line.substr(second + 1);
  }
  if (group.mount.empty() || group.path.empty()) return std::nullopt;
  return group;
}

// Returns the files that say 0, of the group itself and of those above it, from the top.
std::vector<std::string> groups_without_time(const HostFiles& files, const CpuGroup& group) {
  std::vector<std::string> found;
  for (std::size_t end = 0; end != std::string::npos;) {  // bound: the path
    end = group.path.find('/', end + 1);
    const std::string file = group.mount + group.path.substr(0, end) + "/cpu.rt_runtime_us";
    if (files.text(file) == "0") found.push_back(file);
  }
  return found;
}

Finding look_at_group(const HostView& host) {
  Finding finding{.name = "real-time group", .found = "this kernel gives control groups no real-time share"};
  const auto group = cpu_group(host.files);
  const bool v1 = group && host.files.exists(group->mount + "/cpu.rt_runtime_us");
  if (v1) {
    finding.found = group->path + " may run in real time";
    const auto without = groups_without_time(host.files, *group);
    if (without.empty()) return finding;
    for (const std::string& file : without) finding.commands.push_back(host.write_to(file, "900000"));
  } else if (host.facts.fifo_group_zero) {
    finding.commands.push_back("echo $$ | " + host.as_root("tee /sys/fs/cgroup/cgroup.procs"));
    finding.note =
        "with RT_GROUP_SCHED and cgroup v2 only the root group runs in real time; this moves the shell there";
  } else {
    return finding;
  }
  finding.state = FindingState::missing;
  finding.found = "the control group " + (group ? group->path : "of this process") + " has no real-time time";
  finding.cost = "SCHED_FIFO is refused in it, also to root (RT_GROUP_SCHED)";
  return finding;
}

Finding look_at_memlock(const HostView& host) {
  Finding finding{.name = "memory locking", .found = "all of it may be locked"};
  if (host.facts.memlock) return finding;
  finding.state = FindingState::missing;
  std::string limit = "a part of it";
  for (const std::string& line : host.files.lines("/proc/self/limits"))
    if (line.starts_with("Max locked memory")) limit = words_of(line.substr(17)).at(0) + " bytes";
  finding.found = "only " + limit + " may be locked";
  finding.cost = "a page fault may delay a job by milliseconds";
  finding.commands = raise_limits(host);
  finding.note = limits_note(host);
  return finding;
}

// Returns whether it has the right to SCHED_DEADLINE, which only the capability gives, but may not use all cores.
bool is_bound(const HostView& host) {
  constexpr unsigned long long cap_sys_nice = 1ull << 23;
  const std::string rights = host.files.field("/proc/self/status", "CapEff").value_or("");
  const CoreSet allowed = parse_core_set(host.files.field("/proc/self/status", "Cpus_allowed_list").value_or(""));
  return (std::strtoull(rights.c_str(), nullptr, 16) & cap_sys_nice) != 0 && allowed != host.online();
}

Finding look_at_deadline(const HostView& host) {
  Finding finding{.name = "SCHED_DEADLINE", .found = "threads may have it"};
  const int fault = host.facts.deadline_fault;
  if (fault == 0) return finding;
  finding.state = FindingState::missing;
  finding.found = std::string("refused: ") + std::strerror(fault);
  finding.cost = "a share of a core (so much every so often) cannot be given to a single thread";
  if (fault == EPERM && is_bound(host)) {
    finding.note =
        "a thread that may not run on every core is refused it, and this process may not (taskset -cp $$ says where it "
        "may): ask again from a shell that is bound to none";
  } else if (fault == EPERM) {
    finding.note =
        "sudo setcap cap_sys_nice,cap_ipc_lock+ep PROGRAM gives a program the right, until it is built again; "
        "corelane-reserved gives shares to "
        "programs without it";
  } else if (fault == EBUSY) {
    finding.note = "others hold all of it, or sched_rt_runtime_us leaves none: see real-time throttle";
  } else {
    finding.note = "this kernel does not have it (3.14 and later do)";
  }
  return finding;
}

Finding look_at_memory_files(const HostView& host) {
  Finding finding{.name = "memfd and futex", .found = "both work"};
  const int fault = host.facts.memfd_fault != 0 ? host.facts.memfd_fault : host.facts.futex_fault;
  if (fault == 0) return finding;
  finding.state = FindingState::missing;
  finding.found = (host.facts.memfd_fault != 0 ? "memfd_create: " : "futex: ") + std::string(std::strerror(fault));
  finding.cost = "no channels: calls of one host take a socket";
  finding.note = "a sandbox forbids the system call: allow memfd_create and futex in its seccomp profile";
  return finding;
}

Finding look_at_descriptors(const HostView& host) {
  Finding finding{.name = "descriptors"};
  long long soft = 0, hard = 0;
  for (const std::string& line : host.files.lines("/proc/self/limits")) {
    if (!line.starts_with("Max open files")) continue;
    const auto words = words_of(line.substr(14));
    const auto number = [&](std::size_t i) { return words.at(i) == "unlimited" ? 1 << 30 : leading_number(words[i]); };
    if (words.size() > 1) soft = number(0), hard = number(1);
  }
  if (soft == 0)
    return finding.state = FindingState::unknown, finding.found = "/proc/self/limits says nothing", finding;
  finding.found = std::to_string(soft) + " a process";
  if (soft >= enough_descriptors) return finding;
  finding.state = FindingState::missing;
  finding.cost = "a server refuses connections beyond them; each client takes one to four";
  if (hard >= enough_descriptors)
    finding.commands = {"ulimit -n " + std::to_string(std::min(hard, 65536LL))};
  else
    finding.commands = {host.as_root("prlimit --pid $$ --nofile=65536:65536")};
  finding.note = "for this shell and what it starts; in a unit of systemd: LimitNOFILE=65536";
  return finding;
}

}  // namespace

std::span<const Check> rights_checks() {
  static constexpr unsigned tasks = unsigned(Purpose::tasks), latency = unsigned(Purpose::latency),
                            reserve = unsigned(Purpose::reserve);
  static constexpr Check table[] = {
      {tasks | latency, &look_at_fifo},    {tasks | latency | reserve, &look_at_group},
      {tasks | latency, &look_at_memlock}, {reserve, &look_at_deadline},
      {latency, &look_at_memory_files},    {tasks, &look_at_descriptors},
  };
  return table;
}

}  // namespace corelane::tool
