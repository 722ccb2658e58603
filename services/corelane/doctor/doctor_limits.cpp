// Checks of what takes time away from real-time threads that may run: quotas, limits, and other threads above them.
#include <algorithm>
#include <optional>
#include <utility>

#include "orb/base/text/counted.h"
#include "services/corelane/doctor/finding.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

constexpr int highest_level = 49;  // of dispatch

// ---- CPU quota ----

// What a group may use in each period. No Quota: all of it.
struct Quota {
  std::string file, text;  // "20000 of each 100000 us"
  std::string none;        // what the file says without one
};

std::optional<Quota> quota_of_v1(const HostFiles& files, const std::string& folder) {
  const std::string file = folder + "/cpu.cfs_quota_us", quota = files.text_or_empty(file);
  if (leading_number(quota) <= 0) return std::nullopt;
  return Quota{file, quota + " of each " + files.text_or_empty(folder + "/cpu.cfs_period_us") + " us", "-1"};
}

std::optional<Quota> quota_of_v2(const HostFiles& files, const std::string& folder) {
  const std::string file = folder + "/cpu.max";
  const auto words = words_of(files.text_or_empty(file));
  if (words.size() != 2 || leading_number(words[0]) <= 0) return std::nullopt;
  return Quota{file, words[0] + " of each " + words[1] + " us", "max"};
}

// Returns the quotas of the group and of those above it, from the top. In a container, the topmost visible group has
// the container's quota.
std::vector<Quota> quotas_on_way(const HostFiles& files, const os::Mount& mount, const std::string& group, bool v1) {
  std::vector<Quota> found;
  for (std::size_t end = 1;; end = std::min(group.find('/', end + 1), group.size())) {  // bound: the path
    const std::string folder = os::folder_of_group(mount, group.substr(0, end));
    if (auto quota = v1 ? quota_of_v1(files, folder) : quota_of_v2(files, folder)) found.push_back(*std::move(quota));
    if (end >= group.size()) return found;
  }
}

std::vector<Quota> quotas(const HostFiles& files) {
  std::vector<Quota> found;
  const auto mounts = files.mounts();
  const auto v1 = os::cgroup_mount(mounts, "cpu"), v2 = os::cgroup_mount(mounts, "");
  for (const std::string& line : files.lines("/proc/self/cgroup")) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const bool has_cpu = os::has_word(line.substr(first + 1, second - first - 1), "cpu");
    const auto& mount = has_cpu ? v1 : v2;
    if (!mount || (!has_cpu && !line.starts_with("0::"))) continue;
    const auto more = quotas_on_way(files, *mount, line.substr(second + 1), has_cpu);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

Finding look_at_quota(const HostView& host) {
  Finding finding{.name = "CPU quota", .found = "none: this process's control groups may use all of the time"};
  const auto found = quotas(host.files);
  if (found.empty()) return finding;
  finding.state = FindingState::missing;
  finding.found.clear();
  for (const Quota& quota : found) {
    finding.found += (finding.found.empty() ? "" : "; ") + quota.text + " (" + plain(quota.file) + ")";
    finding.commands.push_back(host.write_to(quota.file, quota.none));
  }
  finding.cost =
      "once all threads there have used it up, those without SCHED_FIFO, best effort among them, stand still until the "
      "next period";
  finding.note =
      "with systemd: systemctl set-property UNIT CPUQuota= ; in a container: start it without --cpus and --cpu-quota. "
      "If corelane-reserved gave a share (corelane reserve --share), this limit is intended";
  return finding;
}

// ---- Time of a real-time thread ----

Finding look_at_time_limit(const HostView& host) {
  Finding finding{.name = "real-time limit", .found = "a real-time thread may run as long as it likes"};
  constexpr std::string_view name = "Max realtime timeout";
  std::vector<std::string> words;
  for (const std::string& line : host.files.lines("/proc/self/limits"))
    if (line.starts_with(name)) words = words_of(std::string_view(line).substr(name.size()));
  if (words.size() < 2)
    return finding.state = FindingState::unknown, finding.found = "/proc/self/limits says nothing", finding;
  if (words[0] == "unlimited") return finding;
  finding.state = FindingState::missing;
  finding.found = "a real-time thread may run " + plain(words[0]) + " us without a wait (RLIMIT_RTTIME)";
  finding.cost = "a job or a spinning wait that takes longer ends the whole server with SIGXCPU";
  const std::string command = "prlimit --pid $$ --rttime=unlimited:unlimited";
  finding.commands.push_back(words[1] == "unlimited" ? command : host.as_root(command));
  finding.note =
      "for this shell and what it starts; in a unit of systemd: LimitRTTIME=infinity. Servers end runaway tasks by "
      "their budgets";
  return finding;
}

// ---- Threads above ours ----

struct OtherThread {
  long long number = 0, priority = 0;
  std::string name{};
};

// Returns the thread if it is not a kernel thread and runs under SCHED_FIFO or SCHED_RR, above all levels of dispatch.
std::optional<OtherThread> above_ours(const std::string& stat) {
  const std::size_t open = stat.find('('), close = stat.rfind(')');
  if (open == stat.npos || close == stat.npos || close < open) return std::nullopt;
  constexpr std::size_t flags = 6, priority = 37, policy = 38;  // proc(5), counted from the state
  constexpr long long of_kernel = 0x00200000;                   // PF_KTHREAD
  const auto words = words_of(std::string_view(stat).substr(close + 1));
  if (words.size() <= policy || (leading_number(words[flags]) & of_kernel) != 0) return std::nullopt;
  if (words[policy] != "1" && words[policy] != "2") return std::nullopt;
  if (leading_number(words[priority]) <= highest_level) return std::nullopt;
  return OtherThread{leading_number(stat), leading_number(words[priority]), stat.substr(open + 1, close - open - 1)};
}

// Returns whether it is the reader thread of a process with a Corelane ORB. That process's analysis counts this thread,
// and its other threads above tasks.
bool is_our_reader(const std::string& stat) {
  return stat.find("(corelane-io)") != stat.npos || stat.find("(corelane-lf)") != stat.npos;
}

// Returns those of one process. Ignores threads that end meanwhile.
std::vector<OtherThread> above_ours_in(const HostFiles& files, const std::string& process) {
  std::vector<OtherThread> found;
  const std::string folder = "/proc/" + process + "/task";
  for (const std::string& thread : files.numbered(folder, "")) {
    const std::string stat = files.text_or_empty(folder + "/" + thread + "/stat");
    if (is_our_reader(stat)) return {};
    if (auto other = above_ours(stat)) found.push_back(*std::move(other));
  }
  return found;
}

// Returns the threads with the highest priority first.
std::vector<OtherThread> others_above(const HostFiles& files) {
  std::vector<OtherThread> found;
  for (const std::string& process : files.numbered("/proc", ""))
    for (OtherThread& other : above_ours_in(files, process)) found.push_back(std::move(other));
  std::ranges::stable_sort(found, std::greater{}, &OtherThread::priority);
  return found;
}

Finding look_at_others(const HostView& host) {
  Finding finding{.name = "others above",
                  .found = "no thread of another program is above priority " + std::to_string(highest_level)};
  constexpr std::size_t most_named = 4;
  const auto found = others_above(host.files);
  if (found.empty()) return finding;
  finding.state = FindingState::missing;
  finding.found = counted(found.size(), "thread") + " above tasks: ";
  for (std::size_t i = 0; i < std::min(found.size(), most_named); ++i) {
    finding.found += (i > 0 ? ", " : "") + plain(found[i].name) + " (thread " + std::to_string(found[i].number) +
                     ", priority " + std::to_string(found[i].priority) + ")";
    finding.commands.push_back(host.as_root("chrt --fifo --pid 1 " + std::to_string(found[i].number)));
  }
  if (found.size() > most_named) finding.found += ", ...";
  finding.cost = "on their cores all tasks wait while they run, which no analysis knows of";
  finding.note =
      "if they have to run above tasks: keep them on cores that servers do not use (taskset -cp CORES THREAD, "
      "pool.cores), or let platform.budget hold what they use";
  return finding;
}

}  // namespace

std::span<const Check> limit_checks() {
  static constexpr unsigned tasks = unsigned(Purpose::tasks), latency = unsigned(Purpose::latency);
  static constexpr Check table[] = {
      {tasks | latency, &look_at_quota},
      {tasks | latency, &look_at_time_limit},
      {tasks | latency, &look_at_others},
  };
  return table;
}

}  // namespace corelane::tool
