// Checks of the cores: which may be used, how fast they run, sleep and wake, and what they share.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>

#include "services/corelane/doctor/finding.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

const std::string cpu_folder = "/sys/devices/system/cpu/";

// The process's own control group: that of v1's cpuset, otherwise v2's; "" if there is none.
struct OwnGroup {
  std::string path{};  // "/corelane-r17"
  std::string file{};  // of its cores. v1: the configured ones; v2: the effective ones
};

OwnGroup own_group(const HostFiles& files) {
  const auto mounts = files.mounts();
  const auto v1 = os::cgroup_mount(mounts, "cpuset"), v2 = os::cgroup_mount(mounts, "");
  for (const std::string& line : files.lines("/proc/self/cgroup")) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string path = line.substr(second + 1);
    if (v1 && os::has_word(line.substr(first + 1, second - first - 1), "cpuset"))
      return {path, os::folder_of_group(*v1, path) + "/cpuset.cpus"};
    if (!v1 && v2 && line.starts_with("0::")) return {path, os::folder_of_group(*v2, path) + "/cpuset.cpus.effective"};
  }
  return {};
}

// Returns what corelane-reserved has to do with the process's cores, from the name of its group
// (services/reserved/backends); "" for nothing.
std::string given_by(const OwnGroup& group) {
  for (const auto& [name, words] : {std::pair{"/corelane-r", "of reservation "}, {"/corelane-s", "the shared core "}}) {
    const std::size_t at = group.path.find(name);
    if (at == group.path.npos) continue;
    const std::string number = group.path.substr(at + std::string_view(name).size());
    if (!number.empty() && number.front() >= '0' && number.front() <= '9')
      return words + std::to_string(leading_number(number)) + ", from corelane-reserved";
  }
  if (group.path.find("/corelane-default") != group.path.npos)
    return "the cores that corelane-reserved left for all processes";
  return {};
}

// Reports such cores if no corelane-reserved listens: the next one restores what the last one changed.
Finding held_for_nobody(const HostView& host, Finding finding, const std::string& cores) {
  finding.state = FindingState::missing;
  finding.found = cores + "held for a corelane-reserved that ended";
  finding.cost = "these cores are never given back, and servers that are started here promise nothing on the others";
  finding.commands.push_back(host.start_reserved());
  finding.note =
      "start it once to put the host back, which it does first; end it where no cores are to be reserved. If one runs "
      "with another runtime directory, name that: -ORBRuntimeDirectory";
  return finding;
}

Finding look_at_affinity(const HostView& host) {
  Finding finding{.name = "cores"};
  const CoreSet online = host.online();
  const CoreSet allowed = parse_core_set(host.files.field("/proc/self/status", "Cpus_allowed_list").value_or(""));
  if (online.empty() || allowed.empty())
    return finding.state = FindingState::unknown, finding.found = "the kernel does not say", finding;
  finding.found = "all that there are: " + core_text(online);
  if (std::ranges::includes(allowed, online)) return finding;
  const std::string giver = given_by(own_group(host.files));
  if (!giver.empty() && !host.facts.reserved) return held_for_nobody(host, finding, core_text(allowed) + ", ");
  if (!giver.empty()) return finding.found = core_text(allowed) + ", " + giver, finding;
  finding.found = core_text(allowed) + " of " + core_text(online) + " alone";
  if (host.facts.reserved) {
    finding.state = FindingState::unknown;
    finding.note = "corelane-reserved may have bound this process there: corelane cores shows the owner of each core";
    return finding;
  }
  finding.state = FindingState::missing;
  finding.cost = "servers that are started here promise nothing on the others";
  finding.commands.push_back("taskset -cp " + core_text(online) + " $$");
  finding.note = "for this shell and what it starts; where that is refused its control group has fewer: see cpuset";
  return finding;
}

Finding look_at_cpuset(const HostView& host) {
  Finding finding{.name = "cpuset", .found = "this process's control group has all cores"};
  const OwnGroup group = own_group(host.files);
  const CoreSet online = host.online(),
                has = parse_core_set(group.file.empty() ? "" : host.files.text_or_empty(group.file));
  if (has.empty() || std::ranges::includes(has, online)) return finding;
  const std::string giver = given_by(group);
  if (!giver.empty() && !host.facts.reserved) return held_for_nobody(host, finding, core_text(has) + ", ");
  if (!giver.empty()) return finding.found = core_text(has) + ", " + giver, finding;
  finding.state = FindingState::missing;
  finding.found = "this process's control group has " + core_text(has) + " of " + core_text(online);
  finding.cost = "servers that are started here promise nothing on the others";
  const std::string path = group.file;
  if (path.ends_with(".effective")) {
    const std::string wanted = path.substr(0, path.size() - std::string(".effective").size());
    finding.commands.push_back(host.write_to(wanted, core_text(online)));
    finding.note = "with systemd: systemctl set-property UNIT AllowedCPUs=" + core_text(online) +
                   "; in a container: --cpuset-cpus " + core_text(online);
  } else {
    finding.commands.push_back(host.write_to(path, core_text(online)));
    finding.note = "groups above it need them first; in a container: --cpuset-cpus " + core_text(online);
  }
  return finding;
}

// cgroup v1: the cores of a cpuset are not balanced if neither it nor any cpuset above it balances. Returns the file of
// the cpuset itself then; otherwise "".
std::string balancing_switched_off(const HostFiles& files, std::string folder) {
  const std::string name = "/cpuset.sched_load_balance", own = folder + name;
  for (; !folder.empty(); folder.erase(folder.rfind('/'))) {  // bound: the path
    const auto balances = files.text(folder + name);
    if (!balances) break;  // above the root of the hierarchy
    if (*balances != "0") return {};
  }
  return files.text_or_empty(own) == "0" ? own : std::string();
}

// A daemon or a virtual machine manager that was killed may leave balancing off for all threads. If corelane-reserved
// gave the cores, its backends or a server that separated them (os::CoreDomain) switched it off.
Finding look_at_balancing(const HostView& host) {
  Finding finding{.name = "load balancing", .found = "threads go to cores that are idle"};
  const OwnGroup group = own_group(host.files);
  const std::string giver = given_by(group);
  if (!giver.empty() && host.facts.reserved) return finding.found = "these cores are " + giver, finding;
  const std::string folder = group.file.substr(0, group.file.rfind('/'));
  const std::string switched = balancing_switched_off(host.files, folder),
                    partition = folder + "/cpuset.cpus.partition";
  const bool off = !switched.empty();
  if (!off && host.files.text_or_empty(partition) != "isolated") return finding;
  if (!giver.empty()) return held_for_nobody(host, finding, "off in this process's cpuset, ");
  finding.state = FindingState::missing;
  finding.found = "off in this process's cpuset, " + group.path;
  finding.cost =
      "threads that are bound to no core stay where they were started, several on one core while others idle";
  finding.commands.push_back(off ? host.write_to(switched, "1") : host.write_to(partition, "root"));
  return finding;
}

Finding look_at_frequency(const HostView& host) {
  Finding finding{.name = "frequency", .found = "governor performance on all cores"};
  std::map<std::string, CoreSet> cores;
  for (const std::string& cpu : host.files.numbered(cpu_folder, "cpu"))
    if (const auto governor = host.files.text(cpu_folder + cpu + "/cpufreq/scaling_governor"))
      cores[*governor].insert(static_cast<int>(leading_number(cpu.substr(3))));
  if (cores.empty()) {
    finding.state = FindingState::unknown;
    finding.found = "the kernel does not choose it: the firmware or the hypervisor does";
    finding.cost = "budgets that were measured at one frequency are overrun at a lower one";
    finding.note = "choose a fixed frequency, or performance, there";
    return finding;
  }
  cores.erase("performance");
  if (cores.empty()) return finding;
  finding.state = FindingState::missing;
  finding.found.clear();
  for (const auto& [governor, which] : cores)
    finding.found += (finding.found.empty() ? "governor " : ", ") + plain(governor) + " on " + core_text(which);
  finding.cost = "jobs run slower than they were measured until the frequency follows, some milliseconds";
  finding.commands.push_back(host.write_to(cpu_folder + "cpu*/cpufreq/scaling_governor", "performance") +
                             " >/dev/null");
  return finding;
}

constexpr long long long_wake = 20;  // microseconds

struct IdleState {
  std::string folder, name;
  long long latency = 0;  // microseconds
};

// Returns the idle states of the first core that take long to leave and are not switched off.
std::vector<IdleState> deep_states(const HostFiles& files, long long limit) {
  std::vector<IdleState> deep;
  const std::string idle = cpu_folder + "cpu0/cpuidle/";
  for (const std::string& state : files.numbered(idle, "state")) {
    const long long latency = leading_number(files.text_or_empty(idle + state + "/latency"));
    if (files.text_or_empty(idle + state + "/disable") == "1" || latency > limit || latency <= long_wake) continue;
    deep.push_back({state, plain(files.text_or_empty(idle + state + "/name")), latency});
  }
  return deep;
}

// Returns the latency that a process holds /dev/cpu_dma_latency at, in microseconds (32 bits in host order). Returns a
// large number if no process does, or if this user may not read it.
long long held_latency(const HostFiles& files) {
  const std::string raw = files.text_or_empty("/dev/cpu_dma_latency");
  std::int32_t held = 2'000'000'000;
  if (raw.size() == sizeof held) std::memcpy(&held, raw.data(), sizeof held);
  return held;
}

Finding look_at_idle(const HostView& host) {
  Finding finding{.name = "idle states"};
  if (host.files.numbered(cpu_folder + "cpu0/cpuidle", "state").empty()) {
    finding.state = FindingState::unknown;
    finding.found = "the kernel does not choose them: the firmware or the hypervisor does";
    finding.cost = "a core that slept deeply may take 30 to 200 us to wake";
    finding.note = "choose shallow ones there, or let tasks spin (pool.wait)";
    return finding;
  }
  const auto deep = deep_states(host.files, held_latency(host.files));
  finding.found = "those in use are left within " + std::to_string(long_wake) + " us";
  if (deep.empty()) return finding;
  finding.state = FindingState::missing;
  finding.found = deep.back().name + " takes " + std::to_string(deep.back().latency) + " us to leave";
  finding.cost = "so much later a core that idled begins a job";
  std::string files;
  for (const IdleState& state : deep)
    files += (files.empty() ? "" : " ") + cpu_folder + "cpu*/cpuidle/" + state.folder + "/disable";
  finding.commands.push_back(host.write_to(files, "1") + " >/dev/null");
  return finding;
}

Finding look_at_siblings(const HostView& host) {
  Finding finding{.name = "sibling threads", .found = "no two hardware threads share a core"};
  if (host.files.text_or_empty(cpu_folder + "smt/active") != "1") return finding;
  finding.state = FindingState::missing;
  finding.found = "two or more hardware threads share each core (SMT)";
  finding.cost =
      "a program on a core's other hardware thread slows the core's tasks, usually by a third; servers use one thread "
      "of each core, but cannot keep other programs off its sibling";
  finding.commands.push_back(host.write_to(cpu_folder + "smt/control", "off"));
  return finding;
}

}  // namespace

std::span<const Check> core_checks() {
  static constexpr unsigned tasks = unsigned(Purpose::tasks), latency = unsigned(Purpose::latency),
                            reserve = unsigned(Purpose::reserve);
  static constexpr Check table[] = {
      {tasks | reserve, &look_at_affinity},  {tasks | reserve, &look_at_cpuset}, {tasks | latency, &look_at_balancing},
      {tasks | latency, &look_at_frequency}, {latency, &look_at_idle},           {latency, &look_at_siblings},
  };
  return table;
}

}  // namespace corelane::tool
