#include "services/reserved/backends/cores/cgroup_v2.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ranges>
#include <set>
#include <utility>

#include "orb/os/log.h"
#include "orb/os/machine/core_list.h"
#include "services/reserved/accounts/core_sets.h"
#include "services/reserved/backends/resources/resource_means.h"

namespace corelane::reserved {
namespace {

std::string bandwidth_text(const ShareWanted& share) {
  const auto micros = [](Duration duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
  };
  return micros(share.budget) + " " + micros(share.period);
}

}  // namespace

CgroupV2::CgroupV2(const Host& host, std::string root)
    : host_(host),
      groups_(*host.unified),
      root_(std::move(root)),
      memory_(host_),
      bindings_(host_, groups_, "", "cpuset.cpus.effective"),
      deadlines_(host_),
      switch_(host_, root_) {}

BackendReport CgroupV2::report() const {
  BackendReport report{.kind = "cgroup-v2", .place = groups_.absolute(root_)};
  if (!has_cpu_)
    report.cannot.push_back("no shares of process trees: the cpu controller of cgroup v2 is not to be had below " +
                            report.place +
                            "; with SCHED_FIFO threads outside the root group (CONFIG_RT_GROUP_SCHED) the "
                            "kernel does not switch it on");
  else
    report.cannot.push_back(
        "a share of a process tree limits its processor time and promises no deadline; ask for a thread's share, which "
        "does");
  report.cannot.push_back(
      "a share of one thread takes its whole process to the shared core: v2 has no groups of threads "
      "across processes");
  return report;
}

std::vector<Lost> CgroupV2::sweep() {
  memory_.forget_dead();
  patience_ = 0;  // do not wait: those groups were waited for already
  const auto left = std::exchange(left_, {});
  for (const std::string& path : left | std::views::reverse) remove_group(path);  // groups of members before their sets
  patience_ = removal_patience;
  bindings_.refresh();
  return deadlines_.retry();
}

// ---- Sets ----

Done<StartReport> CgroupV2::start(const std::vector<CoreId>&) {
  if (!groups_.has(joined_path(root_, "cgroup.subtree_control")))
    return Unexpected{groups_.absolute(root_) + " is no control group; make it, or name another root"};
  if (auto on = switch_.switch_on("cpuset"); !on) return Unexpected{on.error()};
  has_cpu_ = switch_.switch_on("cpu").has_value();
  return StartReport{};
}

Done<void> CgroupV2::make_set(const SetName& set, const Place& place) {
  const std::string group = set_group(set);
  sets_[set] = place;
  if (auto made = make_group(group, root_); !made) return made;
  if (auto on = switch_.switch_on_below(group, "cpuset"); !on) return on;
  if (has_cpu_)
    if (auto on = switch_.switch_on_below(group, "cpu"); !on) return on;
  if (auto kept = bindings_.keep_all(); !kept) return kept;
  auto parted = make_partition(group, joined(place.cores, place.idle));
  bindings_.bind_again();
  return parted;
}

// Makes the group a partition. The kernel accepts "root" in any case. Reading the file again shows whether the
// partition is valid.
Done<void> CgroupV2::make_partition(const std::string& group, const std::vector<CoreId>& cores) {
  if (auto done = put(groups_, joined_path(group, "cpuset.cpus"), os::core_list_text(cores)); !done) return done;
  const std::string exclusive = joined_path(group, "cpuset.cpus.exclusive");
  if (groups_.has(exclusive)) groups_.write(exclusive, os::core_list_text(cores));  // if the root is no partition
  const std::string file = joined_path(group, "cpuset.cpus.partition");
  if (auto done = put(groups_, file, "root"); !done) return done;
  const std::string state = groups_.read(file).value_or("");
  if (state == "root") return {};
  return groups_.absolute(file) + " says '" + state +
         "': the kernel makes no partition of these cores. Another group may have them in its cpuset.cpus, or the root "
         "of corelane-reserved is no partition itself (kernels before 6.7 need that)";
}

void CgroupV2::remove_set(const SetName& set) {
  const std::string group = set_group(set);
  if (auto kept = bindings_.keep_all(); !kept) os::log::warn(kept.error());
  if (groups_.has(group)) groups_.write(joined_path(group, "cpuset.cpus.partition"), "member");
  remove_group(group);
  bindings_.bind_again();
  sets_.erase(set);
}

Done<void> CgroupV2::make_group(const std::string& path, const std::string& home) {
  if (left_.erase(path) == 0)  // a group that was left still has its entry
    if (auto kept = host_.journal->add(
            {.kind = JournalEntry::Kind::group, .where = "unified", .subject = path, .before = home});
        !kept)
      return kept;
  if (const int fault = groups_.make(path); fault != 0)
    return groups_.absolute(path) + " cannot be made: " + errno_text(fault) + "; run as root, or in a delegated group";
  return {};
}

// Removes the group. If that fails, its entry stays in the journal, it loses its own cores, and sweep() tries again.
void CgroupV2::remove_group(const std::string& path) {
  const auto& entries = host_.journal->entries();
  const auto entry = std::ranges::find(entries, path, &JournalEntry::subject);
  const std::string home = entry == entries.end() ? root_ : entry->before;
  if (remove_emptied(groups_, path, home, "cgroup.procs", patience_) != 0) {
    groups_.write(joined_path(path, "cpuset.cpus"), "");
    left_.insert(path);
  } else if (entry != entries.end()) {
    host_.journal->drop(JournalEntry(*entry));
  }
}

// ---- Coming and going ----

Done<Remarks> CgroupV2::enter(const Enter& command) {
  Member& member = members_[command.id];
  member = {.holder = command.holder,
            .group = joined_path(set_group(command.set), member_name(std::to_string(command.id.value))),
            .home = host_.processes->group_of(command.holder.process.pid, "").value_or(root_)};
  if (is_ours(member.home)) member.home = root_;
  if (auto made = make_member(member, command); !made) return Unexpected{made.error()};
  auto come = bring_in(member);
  bindings_.bind_again();
  if (!come) return Unexpected{come.error()};
  if (command.holder.extent == Extent::thread) return make_deadline(member, command);
  return Remarks{};
}

Done<void> CgroupV2::make_member(const Member& member, const Enter& command) {
  if (auto made = make_group(member.group, member.home); !made) return made;
  if (auto done = put(groups_, joined_path(member.group, "cpuset.cpus"), os::core_list_text(sets_[command.set].cores));
      !done)
    return done;
  if (!command.share || command.holder.extent == Extent::thread) return {};
  if (!has_cpu_)
    return std::string(
        "a share of a process tree needs the cpu controller of cgroup v2 below the root of "
        "corelane-reserved, which the kernel does not switch on; ask for a whole core");
  return put(groups_, joined_path(member.group, "cpu.max"), bandwidth_text(*command.share));
}

Done<void> CgroupV2::bring_in(const Member& member) {
  const int first = member.holder.process.pid;
  std::set<int> seen;
  for (int round = 0, fresh = 1; fresh > 0 && round < tree_rounds; ++round) {
    fresh = 0;
    for (const int pid : host_.processes->members_of(member.holder)) {
      if (!seen.insert(pid).second) continue;
      ++fresh;
      // A process of the tree may have a reservation of its own.
      if (pid != first && is_ours(host_.processes->group_of(pid, "").value_or(""))) continue;
      if (auto moved = move_process(pid, member.group); !moved) return moved;
    }
  }
  return {};
}

Done<void> CgroupV2::move_process(int pid, const std::string& group) {
  const auto identity = host_.processes->identity(pid);
  const auto home = host_.processes->group_of(pid, "");
  if (!identity || !home) return fault_of_unseen(*host_.processes, pid);
  if (!is_ours(*home))
    if (auto kept = memory_.keep_home("unified", *identity, *home); !kept) return kept;
  for (const int thread : host_.processes->threads_of(pid))
    if (auto kept = bindings_.keep(thread); !kept) return kept;
  const int fault = groups_.write(joined_path(group, "cgroup.procs"), std::to_string(pid));
  if (fault == 0 || fault == ESRCH) return {};
  return "process " + std::to_string(pid) + " cannot be moved into " + groups_.absolute(group) + ": " +
         errno_text(fault) + (fault == EBUSY ? "; a thread of it is under SCHED_DEADLINE" : "");
}

Done<Remarks> CgroupV2::make_deadline(Member& member, const Enter& command) {
  const int thread = command.holder.thread;
  const auto identity = host_.processes->identity(thread);
  if (!identity) return Unexpected{"thread " + std::to_string(thread) + " has ended"};
  member.thread = *identity;
  auto remarks = deadlines_.give(
      {.id = command.id, .thread = *identity, .share = *command.share, .cores = sets_[command.set].cores});
  if (remarks) remarks->push_back("the whole process runs on the shared core, its other threads on what is left there");
  return remarks;
}

void CgroupV2::leave(ReservationId id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  (void)bindings_.keep_all();  // keeps bindings that threads have made meanwhile
  const Member member = std::move(found->second);
  members_.erase(found);
  deadlines_.take(member.thread);
  std::set<int> seen;
  for (int round = 0, fresh = 1; fresh > 0 && round < tree_rounds; ++round) {
    fresh = 0;
    for (const int pid : numbers_below(groups_, member.group, "cgroup.procs").value_or(std::vector<int>{})) {
      if (!seen.insert(pid).second) continue;
      ++fresh;
      send_home(pid, member.home);
    }
  }
  bindings_.bind_again();
  remove_group(member.group);
}

void CgroupV2::send_home(int pid, const std::string& otherwise) {
  const auto identity = host_.processes->identity(pid);
  if (!identity) return;
  const std::string home = memory_.kept_home("unified", *identity).value_or(otherwise);
  if (groups_.write(joined_path(home, "cgroup.procs"), std::to_string(pid)) != 0 && home != otherwise)
    groups_.write(joined_path(otherwise, "cgroup.procs"), std::to_string(pid));
  memory_.forget_home("unified", *identity);
}

// Moves the service into the group of the set's first member. A set that is lent has one.
Done<void> CgroupV2::join(const SetName& set, const Process& service) {
  for (const auto& [id, member] : members_)
    if (member.group.starts_with(set_group(set) + "/")) {
      auto done = move_process(service.pid, member.group);
      if (done) guests_[service.pid] = service;
      bindings_.bind_again();
      return done;
    }
  return "nobody is in the set " + set;
}

void CgroupV2::part(const Process& service, ReservationId home) {
  forget_guest(guests_, service);
  if (!is_same(*host_.processes, service)) return;
  (void)bindings_.keep_all();
  if (const auto member = members_.find(home); member != members_.end())
    groups_.write(joined_path(member->second.group, "cgroup.procs"), std::to_string(service.pid));
  else
    send_home(service.pid, root_);
  bindings_.bind_again();
}

Controllers CgroupV2::controllers() const { return controllers_of_v2(host_, root_); }

std::string CgroupV2::group_of(ReservationId id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? "" : found->second.group;
}

Members CgroupV2::processes_of(ReservationId id) const {
  const auto found = members_.find(id);
  if (found == members_.end()) return std::vector<int>{};
  const Member& member = found->second;
  if (member.holder.extent == Extent::thread) return process_of_thread(*host_.processes, member.holder, member.thread);
  auto members = numbers_below(groups_, member.group, "cgroup.procs");
  if (members) *members = without_guests(*host_.processes, *std::move(members), guests_);
  return members;
}

}  // namespace corelane::reserved
