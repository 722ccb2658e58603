#include "bench/support/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <fstream>

namespace bench_support {
namespace {

std::string first_line(const std::string& path, const std::string& fallback) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? line : fallback;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace

std::vector<corelane::CoreId> usable_cores() {
  cpu_set_t set;
  std::vector<corelane::CoreId> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (std::int16_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back({core});
  return cores;
}

std::string machine_facts() {
  utsname kernel{};
  ::uname(&kernel);
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not told");
  return processor() + ", " + std::to_string(usable_cores().size()) + " usable cores, " + kernel.sysname + " " +
         kernel.release + ", frequency governor " + governor;
}

}  // namespace bench_support
