#include "services/reserved/daemon/host_setup.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "orb/os/machine/core_list.h"
#include "orb/os/machine/mounts.h"
#include "services/reserved/accounts/core_sets.h"
#include "services/reserved/backends/cores/affinity_only.h"
#include "services/reserved/backends/cores/cgroup_v1.h"
#include "services/reserved/backends/cores/cgroup_v2.h"
#include "services/reserved/backends/cores/restore.h"
#include "services/reserved/backends/resources/resource_means.h"

namespace corelane::reserved {
namespace {

using Choice = DaemonSettings::Backend;

// Returns the cores of the machine that are in `list`, which was read from the root group.
std::vector<os::CoreInfo> cut_to(const std::vector<os::CoreInfo>& cores, const std::optional<std::string>& list) {
  const auto named = os::parse_core_list(list.value_or(""));
  std::vector<os::CoreInfo> result;
  std::ranges::copy_if(cores, std::back_inserter(result),
                       [&](const os::CoreInfo& core) { return named && holds(*named, core.core); });
  return result;
}

std::string text_of(const char* file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string why_no_resctrl() {
  return resctrl_lack(os::has_word(text_of("/proc/cpuinfo"), "cat_l3", ' '), access("/sys/fs/resctrl", F_OK) == 0);
}

}  // namespace

Done<std::unique_ptr<HostSetup>> HostSetup::open(const DaemonSettings& settings, const std::string& directory) {
  auto journal = Journal::open(directory + "/reserved.journal");
  if (!journal) return Unexpected{journal.error()};
  return std::unique_ptr<HostSetup>(new HostSetup(settings, *std::move(journal)));
}

HostSetup::HostSetup(DaemonSettings settings, Journal journal)
    : settings_(std::move(settings)),
      mounts_(find_mounts()),
      cpuset_(mounts_.v1_cpuset),
      cpu_(mounts_.v1_cpu),
      unified_(mounts_.v2),
      memory_(mounts_.v1_memory),
      blkio_(mounts_.v1_blkio),
      resctrl_(mounts_.resctrl),
      processes_(settings_.processes),
      journal_(std::move(journal)),
      host_{.cpuset = mounts_.v1_cpuset.empty() ? nullptr : &cpuset_,
            .cpu = mounts_.v1_cpu.empty() ? nullptr : &cpu_,
            .unified = mounts_.v2_cpuset ? &unified_ : nullptr,
            .processes = &processes_,
            .journal = &journal_,
            .of_process = settings_.processes,
            .memory = mounts_.v1_memory.empty() ? nullptr : &memory_,
            .blkio = mounts_.v1_blkio.empty() ? nullptr : &blkio_,
            .resctrl = mounts_.resctrl.empty() ? nullptr : &resctrl_,
            .resctrl_lack = why_no_resctrl(),
            .disks = &disks_,
            .memory_to_promise = memory_to_promise(text_of("/proc/meminfo"), settings_.memory_rest)} {}

std::vector<std::string> HostSetup::put_back() { return restore(host_, "/proc/irq"); }

std::vector<HostSetup::Candidate> HostSetup::candidates(const std::vector<os::CoreInfo>& cores) {
  std::vector<Candidate> found;
  const auto may = [&](Choice choice) {
    // Sets in control groups would affect all processes.
    if (settings_.processes != 0 && choice != Choice::affinity) return false;
    return settings_.backend == choice || settings_.backend == Choice::automatic;
  };
  if (may(Choice::cgroup_v2) && host_.unified != nullptr)
    found.push_back({std::make_unique<CgroupV2>(host_, settings_.root),
                     cut_to(cores, unified_.read(joined_path(settings_.root, "cpuset.cpus.effective")))});
  if (may(Choice::cgroup_v1) && host_.cpuset != nullptr) {
    if (host_.cpu != nullptr && !settings_.root.empty()) host_.cpu->make(settings_.root);
    found.push_back({std::make_unique<CgroupV1>(host_, settings_.root),
                     cut_to(cores, cpuset_.read(joined_path(settings_.root, "cpuset.cpus")))});
  }
  // Below a root group of its own, the affinity backend would not know which processes to leave alone.
  if (settings_.backend == Choice::affinity || (may(Choice::affinity) && settings_.root.empty()))
    found.push_back({std::make_unique<AffinityOnly>(host_), cores});
  return found;
}

}  // namespace corelane::reserved
