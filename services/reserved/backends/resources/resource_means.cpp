#include "services/reserved/backends/resources/resource_means.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include "services/reserved/backends/resources/cache_ways.h"
#include "services/reserved/backends/resources/controller_switch.h"
#include "services/reserved/backends/resources/group_amounts.h"
#include "services/reserved/backends/resources/own_groups.h"

namespace corelane::reserved {
namespace {

constexpr std::uint64_t least_memory = 64 * 1024;  // bytes: one page, whatever its size
constexpr std::uint64_t most_weight = 1000;        // every disk scheduler accepts it

constexpr const char* boot_v2 = "boot with cgroup v2 (systemd.unified_cgroup_hierarchy=1 on the kernel's command line)";
constexpr const char* no_memory_known = "/proc/meminfo does not tell how much this host has; mount /proc";

std::uint64_t number_of(const std::string& text) {
  if (text == "max") return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

ResourceOffer memory_offer(std::uint64_t most, ResourcePromise promise, const std::string& meaning) {
  return {.which = Resource::memory, .least = least_memory, .most = most, .promise = promise, .meaning = meaning};
}

std::unique_ptr<Controller> lacking(Resource which, const std::string& lack) {
  return std::make_unique<NoController>(which, lack);
}

// ---- Disks ----

// Returns the disks that use this I/O scheduler, such as "vda".
std::string disks_under(const Host& host, const std::string& scheduler) {
  if (host.disks == nullptr) return {};
  std::string names;
  for (const std::string& disk : host.disks->children(""))
    if (host.disks->read(disk + "/queue/scheduler").value_or("").find("[" + scheduler + "]") != std::string::npos)
      names += (names.empty() ? "" : ", ") + disk;
  return names;
}

// Returns the first disk that is not backed by a file or by memory.
std::string first_disk(const Host& host) {
  if (host.disks == nullptr) return "DISK";
  for (const std::string& disk : host.disks->children(""))
    if (!disk.starts_with("loop") && !disk.starts_with("ram") && !disk.starts_with("zram")) return disk;
  return "DISK";
}

std::string no_weights_text(const Host& host) {
  return "no disk of this host is shared by weight: none is under the scheduler bfq; as root: echo bfq > /sys/block/" +
         first_disk(host) + "/queue/scheduler, and restart corelane-reserved";
}

ResourceOffer disk_offer(const std::string& disks) {
  return {.which = Resource::disk,
          .most = most_weight,
          .promise = ResourcePromise::proportional,
          .meaning =
              "a part by weight where others wait for the same disk, each other group beside it with 100; no "
              "rate and no delay is promised (" +
              disks + ")"};
}

std::unique_ptr<Controller> disk_of_v1(const Host& host) {
  if (host.blkio == nullptr)
    return lacking(Resource::disk,
                   "the controller blkio of cgroup v1 is not mounted; as root: mount -t cgroup -o blkio none "
                   "/sys/fs/cgroup/blkio, and restart corelane-reserved");
  const std::string disks = disks_under(host, "bfq");
  if (disks.empty()) return lacking(Resource::disk, no_weights_text(host));
  return std::make_unique<OwnGroups>(
      host, OwnGroups::Means{host.blkio, "blkio", "blkio.bfq.weight", disk_offer(disks + " under bfq")});
}

std::unique_ptr<Controller> disk_of_v2(const Host& host, const std::string& root) {
  if (!has_controller(*host.unified, root, "io"))
    return lacking(Resource::disk, host.unified->absolute(joined_path(root, "cgroup.controllers")) +
                                       " has no io: a hierarchy of cgroup v1 has it, or the kernel lacks it; " +
                                       boot_v2);
  if (const std::string disks = disks_under(host, "bfq"); !disks.empty())
    return std::make_unique<GroupAmounts>(
        host, root, GroupAmounts::Means{"io", "io.bfq.weight", "100", disk_offer(disks + " under bfq")});
  // io.cost.qos exists in the hierarchy's root only. It says for which disks the kernel models the cost of requests.
  if (host.unified->read("io.cost.qos").value_or("").find("enable=1") != std::string::npos)
    return std::make_unique<GroupAmounts>(
        host, root, GroupAmounts::Means{"io", "io.weight", "100", disk_offer("disks with enable=1 in io.cost.qos")});
  return lacking(Resource::disk, no_weights_text(host));
}

// ---- Memory ----

std::unique_ptr<Controller> memory_of_v1(const Host& host) {
  if (host.memory == nullptr)
    return lacking(Resource::memory,
                   std::string("the controller memory of cgroup v1 is not mounted (and would guarantee none); ") +
                       boot_v2 + ", where memory.min guarantees it");
  if (host.memory_to_promise == 0) return lacking(Resource::memory, no_memory_known);
  const std::string meaning =
      std::string(
          "cgroup v1 guarantees none: with its soft limit the kernel takes from others first when memory is "
          "short, as far as it can; ") +
      boot_v2 + " for a guarantee";
  return std::make_unique<OwnGroups>(
      host, OwnGroups::Means{host.memory, "memory", "memory.soft_limit_in_bytes",
                             memory_offer(host.memory_to_promise, ResourcePromise::best_effort, meaning)});
}

// Returns the smallest memory.min of the group and all groups above it, since a guarantee counts only up to that. The
// hierarchy's root has no limit.
std::uint64_t kept_above(const GroupFiles& groups, std::string group) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  while (!group.empty()) {  // bound: the depth
    least = std::min(least, number_of(groups.read(joined_path(group, "memory.min")).value_or("0")));
    const std::size_t slash = group.rfind('/');
    group = slash == group.npos ? "" : group.substr(0, slash);
  }
  return least;
}

std::unique_ptr<Controller> memory_of_v2(const Host& host, const std::string& root) {
  if (!has_controller(*host.unified, root, "memory"))
    return lacking(Resource::memory, host.unified->absolute(joined_path(root, "cgroup.controllers")) +
                                         " has no memory: a hierarchy of cgroup v1 has it, or the kernel was started "
                                         "with cgroup_disable=memory; " +
                                         boot_v2);
  if (host.memory_to_promise == 0) return lacking(Resource::memory, no_memory_known);
  const std::uint64_t most = std::min(host.memory_to_promise, kept_above(*host.unified, root));
  if (most < least_memory)
    return lacking(Resource::memory, "memory.min of " + host.unified->absolute(root) +
                                         ", or of a group above it, is 0: nothing below it is guaranteed; write there "
                                         "how many bytes are to be, and restart corelane-reserved");
  return std::make_unique<GroupAmounts>(
      host, root,
      GroupAmounts::Means{
          "memory", "memory.min", "0",
          memory_offer(most, ResourcePromise::guaranteed,
                       "memory that its processes use, up to that amount, stays theirs even if others run short "
                       "(memory.min); memory that they have not touched yet is not set aside")});
}

Controllers all_three(std::unique_ptr<Controller> memory, std::unique_ptr<Controller> cache,
                      std::unique_ptr<Controller> disk) {
  Controllers controllers;
  controllers.push_back(std::move(memory));
  controllers.push_back(std::move(cache));
  controllers.push_back(std::move(disk));
  return controllers;
}

}  // namespace

Controllers controllers_of_v1(const Host& host) {
  return all_three(memory_of_v1(host), std::make_unique<CacheWays>(host), disk_of_v1(host));
}

Controllers controllers_of_v2(const Host& host, const std::string& root) {
  return all_three(memory_of_v2(host, root), std::make_unique<CacheWays>(host), disk_of_v2(host, root));
}

Controllers controllers_without_groups(const Host& host) {
  const std::string lack =
      "the backend affinity has no control groups, by which it is reserved" +
      std::string(host.of_process != 0 ? ", and it is the one because reserved.processes is set: leave that out, and "
                                       : "; ") +
      "start corelane-reserved as root where cgroup v2 is mounted, or v1, which guarantees no memory";
  return all_three(lacking(Resource::memory, lack), std::make_unique<CacheWays>(host), lacking(Resource::disk, lack));
}

std::string resctrl_lack(bool parts_caches, bool kernel_has_it) {
  if (!parts_caches)
    return "this processor cannot partition its cache (no cat_l3 in /proc/cpuinfo: it has no Intel RDT nor AMD QoS, or "
           "is a virtual machine's that does not show it); reserve all cores of one cache instead (--near cache)";
  if (!kernel_has_it)
    return "the processor can partition its cache (cat_l3), and this kernel has no resctrl; take one with "
           "CONFIG_X86_CPU_RESCTRL, as Debian's has";
  return "resctrl is not mounted; as root: mount -t resctrl resctrl /sys/fs/resctrl, and restart corelane-reserved";
}

std::uint64_t memory_to_promise(const std::string& meminfo, unsigned rest_percent) {
  std::istringstream lines(meminfo);
  for (std::string word; lines >> word;) {  // bound: the text
    std::uint64_t kibibytes = 0;
    if (word == "MemTotal:" && lines >> kibibytes) return kibibytes * 1024 / 100 * (100 - std::min(rest_percent, 100U));
  }
  return 0;
}

}  // namespace corelane::reserved
