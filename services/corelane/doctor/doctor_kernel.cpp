// Checks of how the kernel keeps time, schedules and manages memory, and of whether the machine is virtual.
#include <algorithm>
#include <array>

#include "services/corelane/doctor/finding.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {

bool HostView::kernel_is_at_least(int major, int minor) const {
  const std::string release = files.text_or_empty("/proc/sys/kernel/osrelease");
  const std::size_t dot = release.find('.');
  if (dot == release.npos) return false;
  return std::pair(leading_number(release), leading_number(release.substr(dot + 1))) >=
         std::pair<long long, long long>(major, minor);
}

void HostView::mend_by_boot(Finding& finding, const std::string& words) const {
  if (files.exists("/etc/default/grub"))
    finding.commands.push_back(as_root("sed -i 's/^GRUB_CMDLINE_LINUX=\"/&" + words + " /' /etc/default/grub && ") +
                               as_root("update-grub && ") + as_root("reboot"));
  else
    finding.note = "add to the kernel's command line, which this machine's boot loader or hypervisor sets: " + words;
}

namespace {

constexpr const char* debug_mount = "/sys/kernel/debug";

// True even if this user may not look into it.
bool is_debugfs_mounted(const HostView& host) {
  return std::ranges::count(host.files.mounts(), "debugfs", &os::Mount::type) > 0;
}

// Explains, for a file of debugfs that cannot be read, how to make it readable.
void explain_debugfs(const HostView& host, Finding& finding) {
  finding.state = FindingState::unknown;
  const bool mounted = host.files.exists(std::string(debug_mount) + "/sched");
  if (mounted) {
    finding.found = "debugfs does not let it be read (a locked-down kernel)";
    return;
  }
  if (!host.facts.root) {
    finding.found = "only root may look into debugfs";
    finding.commands.push_back("sudo corelane doctor");
    return;
  }
  finding.found = "debugfs is not mounted";
  finding.commands.push_back(std::string("mount -t debugfs none ") + debug_mount);
}

Finding look_at_throttle(const HostView& host) {
  Finding finding{.name = "real-time throttle"};
  const std::string runtime = host.files.text_or_empty("/proc/sys/kernel/sched_rt_runtime_us");
  const std::string period = host.files.text_or_empty("/proc/sys/kernel/sched_rt_period_us");
  if (runtime.empty() || leading_number(period) <= 0)
    return finding.state = FindingState::unknown, finding.found = "the kernel does not say", finding;
  const long long share = leading_number(runtime);
  finding.found = share < 0 ? "off: a real-time thread that runs away keeps its core for ever"
                            : format("%s of each %s us are real-time threads'", runtime.c_str(), period.c_str());
  if (share < 0 || share * 100 >= leading_number(period) * 95) return finding;
  finding.state = FindingState::missing;
  finding.cost = "servers promise up to 95 % of a core, of which the kernel gives less: jobs are late";
  finding.commands.push_back(
      host.write_to("/proc/sys/kernel/sched_rt_runtime_us", std::to_string(leading_number(period) * 95 / 100)));
  return finding;
}

// Linux 6.12 replaced the throttle by a server for ordinary threads; its share is a setting of its own.
Finding look_at_fair_server(const HostView& host) {
  Finding finding{.name = "fair server", .found = "none in this kernel: the real-time throttle has the same effect"};
  if (!host.kernel_is_at_least(6, 12)) return finding;
  const std::string folder = std::string(debug_mount) + "/sched/fair_server/cpu0/";
  const auto runtime = host.files.text(folder + "runtime"), period = host.files.text(folder + "period");
  if (!runtime || !period || leading_number(*period) <= 0) {
    explain_debugfs(host, finding);
    finding.cost =
        "by default it takes 50 ms of each second from a core that real-time threads fill; servers promise "
        "95 %, so that no job is late";
    return finding;
  }
  const long long percent = leading_number(*runtime) * 100 / leading_number(*period);
  finding.found = format("ordinary threads that starve get %lld %% of a core", percent);
  if (percent <= 5) return finding;
  finding.state = FindingState::missing;
  finding.cost = "servers promise up to 95 % of a core, of which the kernel gives less: jobs are late";
  for (const int core : host.online())
    finding.commands.push_back(
        host.write_to(std::string(debug_mount) + "/sched/fair_server/cpu" + std::to_string(core) + "/runtime",
                      std::to_string(leading_number(*period) / 20)));
  return finding;
}

// Returns the part in brackets, of a text like "none voluntary (full)".
std::string chosen_of(const std::string& text) {
  const char open = text.find('[') != text.npos ? '[' : '(', close = open == '[' ? ']' : ')';
  const std::size_t begin = text.find(open), end = text.find(close);
  return begin == text.npos || end == text.npos ? text : text.substr(begin + 1, end - begin - 1);
}

// Returns the mode from the command line, or else from the kernel's build; "" if neither says.
std::string preemption_at_boot(const HostView& host) {
  for (const std::string& word : words_of(host.command_line()))
    if (word.starts_with("preempt=")) return word.substr(8);
  static constexpr std::pair<const char*, const char*> built[] = {{"CONFIG_PREEMPT_NONE=y", "none"},
                                                                  {"CONFIG_PREEMPT_VOLUNTARY=y", "voluntary"},
                                                                  {"CONFIG_PREEMPT=y", "full"},
                                                                  {"CONFIG_PREEMPT_LAZY=y", "lazy"}};
  for (const auto& [line, mode] : built)
    if (("\n" + host.facts.kernel_config + "\n").find(std::string("\n") + line + "\n") != std::string::npos)
      return mode;
  return {};
}

Finding look_at_preemption(const HostView& host) {
  Finding finding{.name = "kernel preemption"};
  const std::string version = host.files.text_or_empty("/proc/version");
  if (version.find("PREEMPT_RT") != version.npos) return finding.found = "PREEMPT_RT", finding;
  finding.cost = "a long system call of any program delays a job that is ready, by some milliseconds at worst";
  const std::string file = std::string(debug_mount) + "/sched/preempt";
  const auto mode = host.files.text(file);
  finding.found = mode ? chosen_of(*mode) : preemption_at_boot(host);
  if (finding.found == "full") return finding;
  if (finding.found.empty()) return explain_debugfs(host, finding), finding;
  finding.state = FindingState::missing;
  // Any user that can read debugfs may have changed it.
  const bool is_dynamic = version.find("PREEMPT_DYNAMIC") != version.npos;
  if (is_dynamic && !mode) finding.found += ", if it was not changed since the start (debugfs would tell)";
  if (is_dynamic && !mode && !is_debugfs_mounted(host))
    finding.commands.push_back(host.as_root(std::string("mount -t debugfs none ") + debug_mount));
  if (is_dynamic || mode) finding.commands.push_back(host.write_to(file, "full"));
  if (!is_dynamic && !mode) host.mend_by_boot(finding, "preempt=full");
  const std::string rt = "Debian's linux-image-rt-amd64 is preempted nearly everywhere";
  finding.note += finding.note.empty() ? rt : "; " + rt;
  return finding;
}

Finding look_at_timers(const HostView& host) {
  const auto nanoseconds = static_cast<long long>(host.facts.timer_resolution.count());
  Finding finding{.name = "timer resolution", .found = std::to_string(nanoseconds) + " ns"};
  if (nanoseconds <= 1000) return finding;
  finding.state = FindingState::missing;
  finding.cost = "releases and budgets are kept to the tick, up to 10 ms late";
  const std::string line = host.command_line();
  if (line.find("highres=off") != line.npos || line.find("nohz=off") != line.npos)
    finding.note = "take highres=off and nohz=off from the kernel's command line";
  else
    finding.note = "no timer of this machine that the kernel uses is finer; dmesg | grep -i hrtimer may say why";
  return finding;
}

Finding look_at_clock(const HostView& host) {
  static constexpr std::array good = {"tsc",      "kvm-clock",        "arch_sys_counter", "hyperv_clocksource_tsc_page",
                                      "timebase", "riscv_clocksource"};
  const std::string folder = "/sys/devices/system/clocksource/clocksource0/";
  Finding finding{.name = "clock source", .found = host.files.text_or_empty(folder + "current_clocksource")};
  if (finding.found.empty())
    return finding.state = FindingState::unknown, finding.found = "the kernel does not say", finding;
  if (std::ranges::find(good, finding.found) != good.end()) return finding;
  finding.state = FindingState::missing;
  finding.cost = "each read of the clock is a system call of about a microsecond; a job needs several";
  const auto offered = words_of(host.files.text_or_empty(folder + "available_clocksource"));
  for (const char* const name : good)
    if (finding.commands.empty() && std::ranges::find(offered, name) != offered.end())
      finding.commands.push_back(host.write_to(folder + "current_clocksource", name));
  if (finding.commands.empty()) finding.note = "the kernel found no better one; dmesg | grep -i tsc may say why";
  return finding;
}

Finding look_at_huge_pages(const HostView& host) {
  Finding finding{.name = "transparent huge pages"};
  const std::string file = "/sys/kernel/mm/transparent_hugepage/enabled";
  const std::string setting = host.files.text_or_empty(file);
  finding.found = setting.empty() ? "not in this kernel" : chosen_of(setting);
  if (finding.found != "always") return finding;
  finding.state = FindingState::missing;
  finding.cost = "the kernel joins pages of running programs, which wait for it up to milliseconds";
  finding.commands.push_back(host.write_to(file, "madvise"));
  return finding;
}

Finding look_at_swap(const HostView& host) {
  Finding finding{.name = "swap", .found = "none in use"};
  auto areas = host.files.lines("/proc/swaps");
  if (areas.size() < 2) return finding;
  finding.state = FindingState::missing;
  finding.found = words_of(areas[1]).at(0) + (areas.size() > 2 ? " and others" : "");
  finding.cost =
      "programs whose memory is not locked may wait for the disk: clients, and servers without memory locking";
  finding.commands.push_back(host.as_root("swapoff -a"));
  return finding;
}

Finding look_at_numa(const HostView& host) {
  Finding finding{.name = "NUMA balancing", .found = "off"};
  const std::string file = "/proc/sys/kernel/numa_balancing";
  if (leading_number(host.files.text_or_empty(file)) == 0) return finding;
  finding.state = FindingState::missing;
  finding.found = "on";
  finding.cost = "the kernel unmaps pages to see which are used: page faults also in locked memory";
  finding.commands.push_back(host.write_to(file, "0"));
  return finding;
}

// Returns the part of all processor time since boot, in percent.
double steal_of(const HostView& host) {
  const auto words = words_of(host.files.field("/proc/stat", "cpu ").value_or(""));
  double sum = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(words.size(), 8); ++i)
    sum += static_cast<double>(leading_number(words[i]));
  return sum > 0 && words.size() > 7 ? 100 * static_cast<double>(leading_number(words[7])) / sum : 0;
}

Finding look_at_machine(const HostView& host) {
  Finding finding{.name = "machine of its own", .found = "no hypervisor is seen"};
  const std::string flags = " " + host.files.field("/proc/cpuinfo", "flags").value_or("") + " ";
  if (flags.find(" hypervisor ") == flags.npos && !host.files.exists("/sys/hypervisor/type")) return finding;
  finding.state = FindingState::missing;
  finding.found = format("a virtual machine; its host kept %.2f %% of the time since boot (steal)", steal_of(host));
  finding.cost =
      "the host may stop a core at any time: such gaps count as execution, and excuse what they make late; a core that "
      "idled is woken by the host, 20 to 70 us later";
  finding.note =
      "it cannot be corrected inside the virtual machine; on the host: a core of its own for each virtual one (with "
      "libvirt: virsh vcpupin DOMAIN VCPU CORE)";
  return finding;
}

}  // namespace

std::span<const Check> kernel_checks() {
  static constexpr unsigned tasks = unsigned(Purpose::tasks), latency = unsigned(Purpose::latency);
  static constexpr Check table[] = {
      {tasks, &look_at_throttle},         {tasks, &look_at_fair_server},     {latency, &look_at_preemption},
      {tasks | latency, &look_at_timers}, {tasks | latency, &look_at_clock}, {latency, &look_at_huge_pages},
      {tasks | latency, &look_at_swap},   {latency, &look_at_numa},          {tasks | latency, &look_at_machine},
  };
  return table;
}

}  // namespace corelane::tool
