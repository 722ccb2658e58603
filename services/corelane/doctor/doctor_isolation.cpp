// Checks of what else runs on the cores: interrupts, the kernel's tick, other programs; and of how to reserve cores.
#include <algorithm>
#include <optional>

#include "services/corelane/doctor/finding.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

// A device that interrupts more often than it needs to start.
struct Interrupts {
  std::string number, device;
  long long count = 0;
  CoreSet cores{};  // that take its interrupts now
  CoreSet may{};    // that its mask allows: the kernel, or irqbalance, may choose any of them next
};

constexpr long long few = 100;  // since boot

std::vector<Interrupts> busy_interrupts(const HostFiles& files) {
  std::vector<Interrupts> found;
  const auto lines = files.lines("/proc/interrupts");
  if (lines.empty()) return found;
  const std::size_t cpus = words_of(lines.front()).size();
  for (const std::string& line : lines) {
    const auto words = words_of(line);
    if (words.size() < cpus + 2 || leading_number(words[0]) == 0) continue;
    Interrupts one{.number = words[0].substr(0, words[0].size() - 1), .device = plain(words.back())};
    for (std::size_t i = 1; i <= cpus; ++i) one.count += leading_number(words[i]);
    const std::string folder = "/proc/irq/" + one.number + "/";
    const auto now = files.text(folder + "effective_affinity_list"), mask = files.text(folder + "smp_affinity_list");
    one.cores = parse_core_set(now ? *now : mask.value_or(""));
    one.may = mask ? parse_core_set(*mask) : one.cores;
    if (one.count >= few) found.push_back(one);
  }
  return found;
}

// Returns "core 2 takes", "cores 2-3 take".
std::string cores_text(const CoreSet& cores, const std::string& one, const std::string& several) {
  return (cores.size() == 1 ? "core " : "cores ") + core_text(cores) + " " + (cores.size() == 1 ? one : several);
}

void steer_to_first_core(const HostView& host, const std::vector<Interrupts>& busy, Finding& finding) {
  const int first = *host.online().begin();
  if (host.files.exists("/usr/sbin/irqbalance"))
    finding.commands.push_back(host.as_root("systemctl disable --now irqbalance"));
  std::string numbers;
  for (const Interrupts& one : busy) numbers += " " + one.number;
  finding.commands.push_back("for irq in" + numbers + "; do " +
                             host.write_to("/proc/irq/$irq/smp_affinity_list", std::to_string(first)) + "; done");
  CoreSet others = host.online();
  others.erase(first);
  finding.note = "then keep tasks off core " + std::to_string(first) + ": pool.cores = \"" + core_text(others) +
                 "\" in corelane.toml; an interrupt that its driver spreads itself (the write is refused: Operation "
                 "not permitted, or Input/output error) needs "
                 "isolcpus=managed_irq";
}

Finding look_at_interrupts(const HostView& host) {
  Finding finding{.name = "interrupts"};
  const auto busy = busy_interrupts(host.files);
  CoreSet idle = host.online(), free = idle;  // cores that take none now, and cores that no mask allows
  for (const Interrupts& one : busy) {
    for (const int core : one.cores) idle.erase(core);
    for (const int core : one.may) free.erase(core);
  }
  if (free == host.online())
    return finding.state = FindingState::unknown, finding.found = "the kernel does not say which core takes which",
           finding;
  finding.found = cores_text(free, "takes", "take") + " none of devices";
  if (!free.empty()) return finding;
  finding.state = FindingState::missing;
  const auto most = std::ranges::max_element(busy, {}, &Interrupts::count);
  finding.found =
      (idle.empty() ? "every core takes some of devices"
                    : cores_text(idle, "takes", "take") + " none of devices by chance: their masks allow every core") +
      "; most come from " + most->device + " to core " + core_text(most->cores);
  finding.cost = "each delays a task by some microseconds, its soft interrupt by up to a millisecond";
  if (host.online().size() < 2)
    finding.note = "this machine has one core";
  else
    steer_to_first_core(host, busy, finding);
  return finding;
}

// Returns all cores except the first, which runs everything else.
std::string cores_to_isolate(const HostView& host) {
  CoreSet cores = host.online();
  if (!cores.empty()) cores.erase(cores.begin());
  return core_text(cores);
}

Finding look_at_isolation(const HostView& host) {
  Finding finding{.name = "isolated cores"};
  for (const char* const file : {"/sys/devices/system/cpu/isolated", "/sys/fs/cgroup/cpuset.cpus.isolated"})
    if (const auto cores = parse_core_set(host.files.text_or_empty(file)); !cores.empty())
      return finding.found = core_text(cores), finding;
  if (host.facts.reserved) return finding.found = "corelane-reserved gives them out: corelane cores", finding;
  finding.state = FindingState::missing;
  finding.found = "none";
  finding.cost =
      "every program of the machine may run on every core: caches go cold, and clients, services and what has "
      "no contract wait for others";
  const std::string cores = cores_to_isolate(host);
  finding.note = "this machine has one core";
  if (cores.empty()) return finding;
  finding.commands.push_back(host.start_reserved());
  finding.note =
      "it moves all other programs of this host off the cores that it gives, until it ends; then corelane reserve "
      "gives programs cores of their own; or for good, by the kernel's command line: isolcpus=managed_irq,domain," +
      cores + " (only what is bound there runs there: taskset -c)";
  return finding;
}

Finding look_at_tick(const HostView& host) {
  Finding finding{.name = "tick"};
  const auto file = host.files.text("/sys/devices/system/cpu/nohz_full");
  if (const auto cores = parse_core_set(file.value_or("")); !cores.empty())
    return finding.found = "stopped on " + core_text(cores) + " while one thread runs there", finding;
  finding.state = FindingState::missing;
  finding.found = "on every core, 100 to 1000 times a second";
  finding.cost = "each takes 1 to 5 us from the job that runs";
  const std::string cores = cores_to_isolate(host);
  if (!file)
    finding.note = "this kernel was built without NO_HZ_FULL; Debian's linux-image-amd64 has it";
  else if (cores.empty())
    finding.note = "the first core keeps its tick, and this machine has no other";
  else
    host.mend_by_boot(finding, "nohz_full=" + cores + " rcu_nocbs=" + cores);
  return finding;
}

struct Hierarchies {
  std::string v1_cpuset, v2;  // where they are mounted
  bool v2_has_cpuset = false, v2_has_memory = false;
};

Hierarchies hierarchies_of(const HostFiles& files) {
  Hierarchies found;
  const auto mounts = files.mounts();
  if (const auto v1 = os::cgroup_mount(mounts, "cpuset")) found.v1_cpuset = v1->point;
  if (const auto v2 = os::cgroup_mount(mounts, "")) found.v2 = v2->point;
  const auto controllers = words_of(files.text_or_empty(found.v2 + "/cgroup.controllers"));
  found.v2_has_cpuset = std::ranges::find(controllers, "cpuset") != controllers.end();
  found.v2_has_memory = std::ranges::find(controllers, "memory") != controllers.end();
  return found;
}

Finding look_at_groups(const HostView& host) {
  Finding finding{.name = "control groups"};
  const Hierarchies found = hierarchies_of(host.files);
  if (found.v2_has_cpuset)
    return finding.found = "cgroup v2 at " + found.v2 + " has cpuset: cores by partitions" +
                           (host.kernel_is_at_least(6, 7) ? "" : " beneath the root group (remote ones: Linux 6.7)"),
           finding;
  if (!found.v1_cpuset.empty())
    return finding.found = "cgroup v1 at " + found.v1_cpuset + ": cores by cpusets", finding;
  finding.state = FindingState::missing;
  finding.found = found.v2.empty() ? "none are mounted" : "cgroup v2 at " + found.v2 + " lacks cpuset";
  finding.cost = "corelane-reserved can only bind threads: it cannot keep other programs off reserved cores";
  if (found.v2.empty())
    finding.commands.push_back(host.as_root("mount -t cgroup2 none /sys/fs/cgroup"));
  else
    finding.note =
        "in a container: run corelane-reserved on the host; else a v1 hierarchy has taken it: boot with "
        "systemd.unified_cgroup_hierarchy=1";
  return finding;
}

Finding look_at_memory(const HostView& host) {
  Finding finding{.name = "reserved memory"};
  const Hierarchies found = hierarchies_of(host.files);
  if (found.v2_has_memory) return finding.found = "cgroup v2 at " + found.v2 + " guarantees it (memory.min)", finding;
  finding.state = FindingState::missing;
  const bool in_v1 = os::cgroup_mount(host.files.mounts(), "memory").has_value();
  finding.found = in_v1 ? "cgroup v1 has the memory controller" : "no control group has the memory controller";
  finding.cost = in_v1 ? "corelane reserve --memory has it at best (--best-effort): others may take it all the same"
                       : "corelane reserve --memory is refused";
  const bool by_systemd = host.files.text("/proc/1/comm") == "systemd";
  host.mend_by_boot(finding, by_systemd ? "systemd.unified_cgroup_hierarchy=1" : "cgroup_no_v1=all");
  if (!by_systemd && found.v2.empty())
    finding.note += (finding.note.empty() ? "" : "; ") + std::string("then mount -t cgroup2 none /sys/fs/cgroup");
  return finding;
}

// Returns whether the kernel was built with it, or does not say.
bool knows_resctrl(const HostFiles& files) {
  const auto known = files.lines("/proc/filesystems");
  return known.empty() || std::ranges::count(known, "nodev\tresctrl") > 0;
}

// A processor that cannot partition its cache lacks nothing that could be repaired.
Finding look_at_cache(const HostView& host) {
  Finding finding{.name = "ways of the cache", .found = "this processor cannot partition its cache: nothing to set up"};
  if (!os::has_word(host.files.text_or_empty("/proc/cpuinfo"), "cat_l3", ' ')) return finding;
  const auto mounts = host.files.mounts();
  if (const auto at = std::ranges::find(mounts, "resctrl", &os::Mount::type); at != mounts.end())
    return finding.found = "resctrl at " + at->point + " gives them", finding;
  finding.state = FindingState::missing;
  finding.cost = "corelane reserve --cache is refused: others fill the cache of reserved cores";
  if (!knows_resctrl(host.files)) {
    finding.found = "the processor can part its cache (cat_l3), and this kernel cannot (resctrl)";
    finding.note = "Debian's linux-image-amd64 has it (CONFIG_X86_CPU_RESCTRL)";
    return finding;
  }
  finding.found = "the processor can part its cache (cat_l3), and resctrl is not mounted";
  finding.commands.push_back(host.as_root("mount -t resctrl resctrl /sys/fs/resctrl"));
  finding.note = "then restart corelane-reserved";
  return finding;
}

Finding look_at_delegation(const HostView& host) {
  Finding finding{.name = "delegated cpuset", .found = "root needs none"};
  if (host.facts.root) return finding;
  const Hierarchies found = hierarchies_of(host.files);
  std::string own;
  for (const std::string& line : host.files.lines("/proc/self/cgroup"))
    if (line.starts_with("0::")) own = line.substr(3);
  const auto controllers = words_of(host.files.text_or_empty(found.v2 + own + "/cgroup.controllers"));
  finding.found = "this user's group " + own + " has cpuset";
  if (found.v2_has_cpuset && std::ranges::find(controllers, "cpuset") != controllers.end()) return finding;
  finding.state = FindingState::missing;
  finding.found = "this user's control group has no cpuset";
  finding.cost = "only root can set cores apart; corelane-reserved, started by root, does it for all users";
  if (!found.v2_has_cpuset)
    finding.note = "cgroup v1 delegates nothing: start corelane-reserved as root";
  else
    finding.commands = {"sudo mkdir -p /etc/systemd/system/user@.service.d",
                        "printf '[Service]\\nDelegate=cpu cpuset io memory pids\\n' | sudo tee "
                        "/etc/systemd/system/user@.service.d/delegate.conf",
                        "sudo systemctl daemon-reload && sudo systemctl restart user@$(id -u)"};
  return finding;
}

}  // namespace

std::span<const Check> isolation_checks() {
  static constexpr unsigned latency = unsigned(Purpose::latency), reserve = unsigned(Purpose::reserve);
  static constexpr Check table[] = {
      {latency, &look_at_interrupts}, {latency | reserve, &look_at_isolation}, {latency, &look_at_tick},
      {reserve, &look_at_groups},     {reserve, &look_at_delegation},          {reserve, &look_at_memory},
      {reserve, &look_at_cache},
  };
  return table;
}

}  // namespace corelane::tool
