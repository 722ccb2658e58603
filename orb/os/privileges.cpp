#include "orb/os/privileges.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "orb/base/minor.h"
#include "orb/os/machine/host.h"
#include "orb/os/thread.h"

namespace corelane::os {
namespace {

constexpr int highest_level = 49;  // the highest level of dispatch; interrupt threads have 50
constexpr int cap_ipc_lock = 14, cap_sys_nice = 23;

std::uint64_t effective_capabilities() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "CapEff:" && status >> word) return std::strtoull(word.c_str(), nullptr, 16);
  return 0;
}

bool has_capability(int number) { return (effective_capabilities() >> number & 1) != 0; }

rlim_t soft_limit(__rlimit_resource resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : 0;
}

bool fifo_works() {
  const auto probe = start_thread({.name = "corelane-probe", .fifo_priority = highest_level}, [] {});
  return probe && probe->real_time();
}

Privileges probe() {
  Privileges found;
  found.fifo = fifo_works();
  found.fifo_group_zero =
      !found.fifo && (has_capability(cap_sys_nice) || soft_limit(RLIMIT_RTPRIO) >= rlim_t{highest_level});
  found.memlock = has_capability(cap_ipc_lock) || soft_limit(RLIMIT_MEMLOCK) == RLIM_INFINITY;
  return found;
}

// The kernel keeps the capabilities with the file, and a linker makes a new one.
std::string setcap_command() {
  const std::string path = program_path();
  return "sudo setcap cap_sys_nice,cap_ipc_lock+ep " + (path.empty() || !is_plain_path(path) ? "PROGRAM" : path) +
         " (again after each build)";
}

}  // namespace

const Privileges& privileges() {
  static const Privileges found = probe();
  return found;
}

bool may_set_deadlines() noexcept {
  static const bool may = has_capability(cap_sys_nice);
  return may;
}

std::vector<std::string> missing(const Privileges& found) {
  std::vector<std::string> lines;
  if (!found.fifo)
    lines.push_back(
        std::string("SCHED_FIFO is missing: tasks and the reader of requests compete with every other program of this "
                    "machine, so deadlines may be missed at any load. Mend it: ") +
        (found.fifo_group_zero ? "the control group's real-time runtime is 0: sudo sh -c 'echo 950000 > "
                                 "/sys/fs/cgroup/cpu/<group>/cpu.rt_runtime_us'"
                               : setcap_command() + ", or 'ulimit -r 99' where allowed"));
  if (!found.memlock)
    lines.push_back("Memory locking is missing: a page fault may delay a job by milliseconds. Mend it: " +
                    setcap_command() + ", or 'ulimit -l unlimited' where allowed");
  return lines;
}

std::string refused_reader(const Privileges& found, int priority) {
  if (!found.fifo) return {};
  return "io.priority = " + std::to_string(priority) +
         " was refused: requests may wait for tasks that run. Mend it: " + setcap_command() +
         ", 'ulimit -r 99' where allowed, or a lower io.priority";
}

Expected<void> lock_memory(std::size_t heap) noexcept {
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_MMAP_MAX, 0);
  const bool locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  if (auto* const memory = static_cast<volatile char*>(std::malloc(heap))) {
    for (std::size_t at = 0; at < heap; at += 4096) memory[at] = 0;
    std::free(const_cast<char*>(memory));
  }
  if (!locked) return Error{.kind = ErrorKind::no_permission, .minor = minor::no_real_time};
  return {};
}

}  // namespace corelane::os
