#include "services/reserved/backends/process_table.h"

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>

#include "orb/os/clock.h"
#include "orb/os/machine/core_list.h"
#include "orb/os/machine/cpu_mask.h"
#include "services/reserved/accounts/core_sets.h"

namespace corelane::reserved {
namespace {

// Returns the names in a folder that are numbers.
std::vector<int> numbered_entries(const std::string& folder) {
  std::vector<int> numbers;
  std::error_code fault;
  for (std::filesystem::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault)) {
    const std::string name = entry->path().filename().string();
    int number = 0;
    const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && last == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

// Returns a field of /proc/<id>/stat after the second one, which is the name; "" if the process is gone.
std::string stat_field(int id, int number) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  for (int at = 2; at < number; ++at) fields >> field;
  return field;
}

template <typename Number>
std::optional<Number> stat_number(int id, int field) {
  const std::string text = stat_field(id, field);
  Number number{};
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || last != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::vector<int> HostProcesses::all() const { return root_ == 0 ? numbered_entries("/proc") : tree_of(root_); }

std::vector<int> HostProcesses::threads_of(int pid) const {
  return numbered_entries("/proc/" + std::to_string(pid) + "/task");
}

std::multimap<int, int> HostProcesses::children() const {
  std::multimap<int, int> children;
  for (const int pid : numbered_entries("/proc")) children.emplace(parent_of(pid), pid);
  return children;
}

int HostProcesses::parent_of(int pid) const { return stat_number<int>(pid, 4).value_or(0); }

std::vector<int> ProcessTable::members_of(const Holder& holder) const {
  return holder.extent == Extent::tree ? tree_of(holder.process.pid) : std::vector<int>{holder.process.pid};
}

std::vector<int> ProcessTable::tree_in(const std::multimap<int, int>& children, int pid) {
  std::vector<int> tree{pid};
  for (std::size_t at = 0; at < tree.size(); ++at) {  // bound: the processes; a parent comes before its children
    const auto [first, last] = children.equal_range(tree[at]);
    for (auto child = first; child != last; ++child) tree.push_back(child->second);
  }
  return tree;
}

std::optional<Process> HostProcesses::identity(int id) const { return os::identity_of(id); }

bool HostProcesses::exists(int id) const { return id > 0 && (kill(id, 0) == 0 || errno != ESRCH); }

std::string HostProcesses::name_of(int pid) const {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// The first thread of a process may end before the others.
bool HostProcesses::is_running(const Process& process) const {
  return os::is_alive(process) || (identity(process.pid) == process && threads_of(process.pid).size() > 1);
}

std::optional<std::string> HostProcesses::group_of(int id, const std::string& controller) const {
  std::ifstream file("/proc/" + std::to_string(id) + "/cgroup");
  for (std::string line; std::getline(file, line);) {  // a line such as 3:cpuset:/path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names != ",," ? controller.empty() || names.find("," + controller + ",") == std::string::npos
                      : !controller.empty())
      continue;
    return line.substr(std::min(second + 2, line.size()));  // without the slash
  }
  return std::nullopt;
}

std::optional<std::vector<CoreId>> HostProcesses::affinity(int thread) const {
  os::CpuMask mask;
  if (sched_getaffinity(thread, os::CpuMask::native_size, mask.native()) != 0) return std::nullopt;
  std::vector<CoreId> cores;
  for (std::int16_t core = 0; core < os::CpuMask::limit; ++core)
    if (mask.contains({core})) cores.push_back({core});
  return cores;
}

std::optional<std::vector<CoreId>> HostProcesses::mask_of(int thread) const {
  auto mask = affinity(thread);
  if (!mask || switched_off().empty()) return mask;
  constexpr std::string_view field = "Cpus_allowed_list:\t";
  std::ifstream file("/proc/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(file, line);)  // bound: the lines of the file
    if (line.starts_with(field))
      if (const auto all = os::parse_core_list(line.substr(field.size())))
        return joined(*mask, common_to(*all, switched_off()));
  return mask;
}

// Reads the switched-off cores at most ten times a second, since a pass asks for every thread of the host.
const std::vector<CoreId>& HostProcesses::switched_off() const {
  const Time now = os::now();
  if (looked_at_ != Time{} && now - looked_at_ < std::chrono::milliseconds{100}) return switched_off_;
  looked_at_ = now;
  const auto present = cores_listed("present"), online = cores_listed("online");
  switched_off_ = present && online ? without(*present, *online) : std::vector<CoreId>{};
  return switched_off_;
}

std::optional<std::vector<CoreId>> cores_listed(const std::string& file) {
  std::string list;
  std::getline(std::ifstream("/sys/devices/system/cpu/" + file), list);
  return list.empty() ? std::nullopt : os::parse_core_list(list);
}

bool HostProcesses::is_fixed(int thread) const {
  constexpr std::uint32_t no_setaffinity = 0x0400'0000;  // PF_NO_SETAFFINITY of linux/sched.h
  return (stat_number<std::uint32_t>(thread, 9).value_or(0) & no_setaffinity) != 0;
}

std::optional<CoreId> HostProcesses::last_core(int thread) const {
  const auto number = stat_number<std::int16_t>(thread, 39);
  return number ? std::optional(CoreId{*number}) : std::nullopt;
}

int HostProcesses::set_affinity(int thread, const std::vector<CoreId>& cores) {
  os::CpuMask mask;
  for (const CoreId core : cores) mask.add(core);
  return sched_setaffinity(thread, os::CpuMask::native_size, mask.native()) == 0 ? 0 : errno;
}

int HostProcesses::set_deadline(int thread, Duration budget, Duration period) {
  return os::set_deadline_class(thread, budget, period);
}

std::optional<os::SchedulingClass> HostProcesses::scheduling(int thread) const {
  return os::scheduling_class_of(thread);
}

int HostProcesses::set_scheduling(int thread, const os::SchedulingClass& wanted) {
  return os::set_scheduling_class(thread, wanted);
}

Duration HostProcesses::used_by(int pid) const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec};
}

bool is_same(const ProcessTable& table, const Process& process) {
  const auto identity = table.identity(process.pid);
  return identity ? *identity == process : table.exists(process.pid);
}

std::vector<int> without_guests(const ProcessTable& table, std::vector<int> pids, const Guests& guests) {
  std::erase_if(pids, [&](int pid) {
    const auto guest = guests.find(pid);
    return guest != guests.end() && is_same(table, guest->second);  // otherwise another process has the pid now
  });
  return pids;
}

void forget_guest(Guests& guests, const Process& service) {
  const auto guest = guests.find(service.pid);
  if (guest != guests.end() && guest->second == service) guests.erase(guest);
}

std::vector<int> process_of_thread(const ProcessTable& table, const Holder& holder, const Process& thread) {
  return is_same(table, thread) ? std::vector<int>{holder.process.pid} : std::vector<int>{};
}

}  // namespace corelane::reserved
