#include "services/reserved/backends/cores/cgroup_v1.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "orb/os/log.h"
#include "orb/os/machine/core_list.h"
#include "services/reserved/accounts/core_sets.h"
#include "services/reserved/backends/resources/resource_means.h"

namespace corelane::reserved {
namespace {

std::string microseconds_text(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

std::string bandwidth_name(ReservationId id) { return "corelane-b" + std::to_string(id.value); }

std::string bandwidth_fault(const std::string& text) {
  return text +
         "; a thread under SCHED_FIFO cannot be held to a bandwidth (with RT_GROUP_SCHED its group would need "
         "cpu.rt_runtime_us)";
}

}  // namespace

std::string group_name(const SetName& set) { return "corelane-" + set; }

CgroupV1::CgroupV1(const Host& host, std::string root)
    : host_(host),
      root_(std::move(root)),
      memory_(host_),
      bindings_(host_, *host.cpuset, "cpuset", "cpuset.cpus"),
      deadlines_(host_),
      made_(*host_.journal) {}

BackendReport CgroupV1::report() const {
  BackendReport report{.kind = "cgroup-v1", .place = host_.cpuset->absolute(root_)};
  if (!exclusive_)
    report.cannot.push_back(report.place +
                            " cannot be parted exclusively: it is not exclusive itself, or another cpuset has some of "
                            "its cores. Processes outside of this server's sets are not kept out, and no thread gets "
                            "SCHED_DEADLINE; use the hierarchy's root");
  if (host_.cpu == nullptr)
    report.cannot.push_back("no shares of process trees: the cpu controller of cgroup v1 is not mounted");
  else
    report.cannot.push_back(
        "a share of a process tree limits its processor time and promises no deadline; ask for a thread's share, which "
        "does");
  for (const std::string& child : host_.cpuset->children(root_))
    if (!child.starts_with("corelane-"))
      report.cannot.push_back(
          joined_path(report.place, child) +
          " may run on reserved cores: that cpuset belongs to another program; take them out of its cpuset.cpus");
  return report;
}

// ---- The default set ----

Done<StartReport> CgroupV1::start(const std::vector<CoreId>& all) {
  const auto cpus = host_.cpuset->read(in_root("cpuset.cpus"));
  const auto mems = host_.cpuset->read(in_root("cpuset.mems"));
  if (!cpus || !mems) return Unexpected{host_.cpuset->absolute(root_) + " is no cpuset; make it, or name another root"};
  mems_ = *mems;
  exclusive_ = host_.cpuset->read(in_root("cpuset.cpu_exclusive")) == "1";
  const auto present = os::parse_core_list(*cpus);
  if (!present || !without(all, *present).empty())
    return Unexpected{host_.cpuset->absolute(in_root("cpuset.cpus")) + " is '" + *cpus + "' and lacks some of " +
                      os::core_list_text(all)};
  all_ = common_ = wanted_ = all;
  if (auto kept = bindings_.keep_all(); !kept) return Unexpected{kept.error()};
  if (auto made = made_.make(*host_.cpuset, "cpuset", common_group(), root_); !made) return Unexpected{made.error()};
  if (auto filled = fill(common_group(), all_); !filled) return Unexpected{filled.error()};
  // The kernel refuses this if another program's cpuset has some of the cores.
  exclusive_ = exclusive_ && host_.cpuset->write(joined_path(common_group(), "cpuset.cpu_exclusive"), "1") == 0;
  if (exclusive_)
    if (auto off = switch_balancing_off(); !off) return Unexpected{off.error()};
  const Moved moved = move_all(*host_.cpuset, root_, common_group(), thread_list);
  if (moved.fault != 0)
    return Unexpected{"processes cannot be moved into " + host_.cpuset->absolute(common_group()) + ": " +
                      errno_text(moved.fault)};
  bindings_.bind_again();
  return StartReport{.moved = moved.moved, .unmovable = moved.unmovable};
}

// Switches load balancing off in the root. Otherwise the kernel balances over all sets, and SCHED_DEADLINE has only one
// scheduling domain.
Done<void> CgroupV1::switch_balancing_off() {
  const std::string file = in_root("cpuset.sched_load_balance");
  const auto before = host_.cpuset->read(file);
  if (!before || *before == "0") return {};
  if (auto kept = host_.journal->add(
          {.kind = JournalEntry::Kind::value, .where = "cpuset", .subject = file, .before = *before});
      !kept)
    return kept;
  return put(*host_.cpuset, file, "0");
}

// Makes the kernel build the scheduling domains again. A thread that leaves SCHED_DEADLINE gives its bandwidth back up
// to a period later, to the domain in which it is then. That domain's sum can fall below zero. The kernel (6.1) then
// treats it as full and refuses to change its cores (EBUSY). A domain that is built again is counted again.
void CgroupV1::build_domains_anew() {
  host_.cpuset->write(in_root("cpuset.sched_load_balance"), "1");
  host_.cpuset->write(in_root("cpuset.sched_load_balance"), "0");
}

std::vector<Lost> CgroupV1::sweep() {
  memory_.forget_dead();
  made_.retry();
  mend_common();
  if (common_ != wanted_) (void)apply_common();
  bindings_.refresh();
  const std::vector<int> outside = numbers_of(*host_.cpuset, in_root(thread_list));
  for (const int thread : outside)
    if (!stayed_.contains(thread)) (void)bindings_.keep(thread);
  stayed_ = {outside.begin(), outside.end()};
  if (move_all(*host_.cpuset, root_, common_group(), thread_list).moved > 0) bindings_.bind_again();
  return deadlines_.retry();
}

// Makes the default set again if another program has removed it or changed its cores.
void CgroupV1::mend_common() {
  common_ = without(common_, missing());
  const std::string file = joined_path(common_group(), "cpuset.cpus");
  const auto now = host_.cpuset->read(file);
  if (now ? os::parse_core_list(*now) == common_ : host_.cpuset->has(file)) return;
  os::log::error(host_.cpuset->absolute(file) +
                 (now ? " says '" + *now + "', which another program wrote"
                      : " is gone, because another program removed its group") +
                 ": the default set is made anew; does another corelane-reserved, or a manager of cpusets, run here?");
  if (const int fault = host_.cpuset->make(common_group()); fault != 0) return;
  if (fill(common_group(), common_) && exclusive_)
    host_.cpuset->write(joined_path(common_group(), "cpuset.cpu_exclusive"), "1");
}

Done<void> CgroupV1::set_common(const std::vector<CoreId>& cores) {
  wanted_ = cores;
  return apply_common();
}

// Gives the default set its cores. The kernel refuses (EINVAL) cores that belong to a set which could not be removed
// yet, and cores that are switched off. The default set gets the other cores now. sweep() tries again.
Done<void> CgroupV1::apply_common() {
  const std::vector<CoreId> cores = without(wanted_, held());
  if (cores == common_) return {};
  if (auto kept = bindings_.keep_all(); !kept) return kept;
  const std::string file = joined_path(common_group(), "cpuset.cpus");
  if (exclusive_ && host_.cpuset->write(file, os::core_list_text(cores)) == EBUSY) build_domains_anew();
  auto done = put(*host_.cpuset, file, os::core_list_text(cores));
  if (done) common_ = cores;
  bindings_.bind_again();
  return done;
}

// Returns the cores that the root group has lost. The kernel removes switched-off cores from all sets. Only the
// hierarchy's root gets them back later.
std::vector<CoreId> CgroupV1::missing() const {
  const auto present = os::parse_core_list(host_.cpuset->read(in_root("cpuset.cpus")).value_or(""));
  return present && !present->empty() ? without(all_, *present) : std::vector<CoreId>{};
}

std::vector<CoreId> CgroupV1::held() const {
  std::vector<CoreId> held = missing();
  for (const std::string& path : made_.left(*host_.cpuset))
    if (const auto cores = os::parse_core_list(host_.cpuset->read(joined_path(path, "cpuset.cpus")).value_or("")))
      held = joined(held, *cores);
  return held;
}

// ---- Sets ----

Done<void> CgroupV1::make_set(const SetName& set, const Place& place) {
  const std::string group = in_root(group_name(set));
  if (auto made = made_.make(*host_.cpuset, "cpuset", group, root_); !made) return made;
  if (auto filled = fill(group, place.cores); !filled) return filled;
  host_.cpuset->write(joined_path(group, "cpuset.sched_load_balance"), "1");  // a group that was left behind may say 0
  return exclusive_ ? put(*host_.cpuset, joined_path(group, "cpuset.cpu_exclusive"), "1") : Done<void>{};
}

void CgroupV1::remove_set(const SetName& set) {
  made_.remove(*host_.cpuset, "cpuset", in_root(group_name(set)), common_group());
}

// Sets cores and memory nodes, which a cpuset needs before a process can enter it.
Done<void> CgroupV1::fill(const std::string& group, const std::vector<CoreId>& cores) const {
  if (auto done = put(*host_.cpuset, joined_path(group, "cpuset.cpus"), os::core_list_text(cores)); !done) return done;
  if (auto done = put(*host_.cpuset, joined_path(group, "cpuset.mems"), mems_); !done) return done;
  return {};
}

// ---- Coming and going ----

Done<Remarks> CgroupV1::enter(const Enter& command) {
  Member& member = members_[command.id];
  member = {.holder = command.holder, .group = in_root(group_name(command.set)), .home = common_group()};
  auto done =
      command.holder.extent == Extent::thread ? enter_thread(member, command) : enter_processes(member, command);
  bindings_.bind_again();
  return done;
}

Done<Remarks> CgroupV1::enter_processes(Member& member, const Enter& command) {
  const int root_pid = command.holder.process.pid;
  member.home = home_of(root_pid);
  if (command.share)
    if (auto held = enter_bandwidth(member, command); !held) return Unexpected{held.error()};
  std::set<int> seen;
  for (int round = 0, fresh = 1; fresh > 0 && round < tree_rounds; ++round) {
    fresh = 0;
    for (const int pid : host_.processes->members_of(command.holder)) {
      if (!seen.insert(pid).second) continue;
      ++fresh;
      if (pid != root_pid && has_own_set(pid)) continue;
      if (auto held = hold_to_share(member, pid); !held) return Unexpected{held.error()};
      if (auto moved = move_process(pid, member.group); !moved) return Unexpected{moved.error()};
    }
  }
  return intruders(member.group);
}

// Puts the process under the bandwidth limit. Call it before the process is moved to the core. Then every process on
// the core is limited, and leave(), which moves the members of this group, misses none.
Done<void> CgroupV1::hold_to_share(const Member& member, int pid) {
  if (member.bandwidth.empty()) return {};
  const int fault = host_.cpu->write(joined_path(member.bandwidth, "cgroup.procs"), std::to_string(pid));
  if (fault == 0 || fault == ESRCH) return {};
  return bandwidth_fault("process " + std::to_string(pid) + " cannot be held to its share: " + errno_text(fault));
}

// Returns warnings about other programs' cpusets that have some of the set's cores. The kernel does not keep their
// processes away.
Remarks CgroupV1::intruders(const std::string& group) const {
  const auto cores_of = [&](const std::string& one) {
    const auto list = host_.cpuset->read(joined_path(one, "cpuset.cpus")).value_or("");
    return os::parse_core_list(list).value_or(std::vector<CoreId>{});
  };
  Remarks remarks;
  for (const std::string& child : host_.cpuset->children(root_)) {
    const auto both = common_to(cores_of(group), cores_of(in_root(child)));
    if (child.starts_with("corelane-") || both.empty()) continue;
    remarks.push_back("processes in " + host_.cpuset->absolute(in_root(child)) + " may run on " +
                      os::core_list_text(both) +
                      ", too: that cpuset belongs to another program; take the core out of its cpuset.cpus");
  }
  return remarks;
}

Done<void> CgroupV1::move_process(int pid, const std::string& group) {
  const auto identity = host_.processes->identity(pid);
  if (!identity) return fault_of_unseen(*host_.processes, pid);
  if (const auto home = host_.processes->group_of(pid, "cpuset"); home && *home != root_ && !is_ours(*home))
    if (auto kept = memory_.keep_home("cpuset", *identity, *home); !kept) return kept;
  for (const int thread : host_.processes->threads_of(pid))
    if (auto kept = bindings_.keep(thread); !kept) return kept;
  const int fault = host_.cpuset->write(joined_path(group, "cgroup.procs"), std::to_string(pid));
  if (fault == 0 || fault == ESRCH) return {};
  return "process " + std::to_string(pid) + " cannot be moved into " + host_.cpuset->absolute(group) + ": " +
         errno_text(fault) + (fault == EBUSY ? "; a thread of it is under SCHED_DEADLINE" : "");
}

Done<void> CgroupV1::enter_bandwidth(Member& member, const Enter& command) {
  if (host_.cpu == nullptr)
    return std::string(
        "a share of a process tree needs the cpu controller of cgroup v1, which is not mounted; ask for "
        "a whole core, or for a thread's share");
  const std::string home = host_.processes->group_of(command.holder.process.pid, "cpu").value_or(root_);
  member.bandwidth = in_root(bandwidth_name(command.id));
  if (auto made = made_.make(*host_.cpu, "cpu", member.bandwidth, is_ours(home) ? root_ : home); !made) return made;
  if (auto set =
          put(*host_.cpu, joined_path(member.bandwidth, "cpu.cfs_period_us"), microseconds_text(command.share->period));
      !set)
    return set;
  return put(*host_.cpu, joined_path(member.bandwidth, "cpu.cfs_quota_us"), microseconds_text(command.share->budget));
}

Done<Remarks> CgroupV1::enter_thread(Member& member, const Enter& command) {
  const int thread = command.holder.thread;
  const auto identity = host_.processes->identity(thread);
  if (!identity) return Unexpected{"thread " + std::to_string(thread) + " has ended"};
  member.home = home_of(thread);
  if (member.home != common_group())
    if (auto kept = memory_.keep_home("cpuset", *identity, member.home, thread_list); !kept)
      return Unexpected{kept.error()};
  if (auto kept = bindings_.keep(thread); !kept) return Unexpected{kept.error()};
  member.thread = *identity;
  if (const int fault = host_.cpuset->write(joined_path(member.group, thread_list), std::to_string(thread)); fault != 0)
    return Unexpected{"thread " + std::to_string(thread) + " cannot be moved into " +
                      host_.cpuset->absolute(member.group) + ": " + errno_text(fault)};
  const auto cores = os::parse_core_list(host_.cpuset->read(joined_path(member.group, "cpuset.cpus")).value_or(""));
  return deadlines_.give({.id = command.id,
                          .thread = *identity,
                          .share = *command.share,
                          .cores = cores.value_or(std::vector<CoreId>{}),
                          .has_domain = exclusive_});
}

// Moves the processes back to their recorded groups. A process without one goes where the reservation's first process
// came from.
void CgroupV1::leave(ReservationId id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  (void)bindings_.keep_all();  // keeps bindings that threads have made meanwhile
  const Member member = std::move(found->second);
  members_.erase(found);
  if (member.holder.extent == Extent::thread) return leave_thread(member);
  const bool by_bandwidth = !member.bandwidth.empty();
  GroupFiles& groups = by_bandwidth ? *host_.cpu : *host_.cpuset;
  const std::string& group = by_bandwidth ? member.bandwidth : member.group;
  std::set<int> seen;
  for (int round = 0, fresh = 1; fresh > 0 && round < tree_rounds; ++round) {
    fresh = 0;
    for (const int pid : numbers_below(groups, group, "cgroup.procs").value_or(std::vector<int>{})) {
      if (!seen.insert(pid).second) continue;
      ++fresh;
      send_home(pid, member.home);
    }
  }
  bindings_.bind_again();
  if (!by_bandwidth) return;
  const auto& entries = host_.journal->entries();
  const auto entry = std::ranges::find(entries, member.bandwidth, &JournalEntry::subject);
  if (entry != entries.end()) made_.remove(*host_.cpu, "cpu", member.bandwidth, std::string(entry->before));
}

void CgroupV1::leave_thread(const Member& member) {
  if (member.thread.pid == 0) return;
  deadlines_.take(member.thread);
  if (is_same(*host_.processes, member.thread)) go_home(member.home, thread_list, member.thread.pid);
  memory_.forget_home("cpuset", member.thread, thread_list);
  bindings_.bind_again();
}

// Moves a process or thread to `home`. If that group is gone or refuses it, moves it to the default set, so that it
// does not stay on reserved cores.
void CgroupV1::go_home(const std::string& home, const char* list, int id) {
  if (host_.cpuset->write(joined_path(home, list), std::to_string(id)) != 0 && home != common_group())
    host_.cpuset->write(joined_path(common_group(), list), std::to_string(id));
}

void CgroupV1::send_home(int pid, const std::string& otherwise) {
  const auto identity = host_.processes->identity(pid);
  if (!identity) return;
  go_home(memory_.kept_home("cpuset", *identity).value_or(otherwise), "cgroup.procs", pid);
  memory_.forget_home("cpuset", *identity);
}

Done<void> CgroupV1::join(const SetName& set, const Process& service) {
  auto done = move_process(service.pid, in_root(group_name(set)));
  if (done) guests_[service.pid] = service;
  bindings_.bind_again();
  return done;
}

void CgroupV1::part(const Process& service, ReservationId home) {
  forget_guest(guests_, service);
  if (!is_same(*host_.processes, service)) return;
  (void)bindings_.keep_all();
  if (const auto member = members_.find(home); member != members_.end())
    host_.cpuset->write(joined_path(member->second.group, "cgroup.procs"), std::to_string(service.pid));
  else
    send_home(service.pid, common_group());
  bindings_.bind_again();
}

Members CgroupV1::processes_of(ReservationId id) const {
  const auto found = members_.find(id);
  if (found == members_.end()) return std::vector<int>{};
  const Member& member = found->second;
  if (member.holder.extent == Extent::thread) return process_of_thread(*host_.processes, member.holder, member.thread);
  const bool by_bandwidth = !member.bandwidth.empty();
  auto members = numbers_below(by_bandwidth ? *host_.cpu : *host_.cpuset,
                               by_bandwidth ? member.bandwidth : member.group, "cgroup.procs");
  if (members) *members = without_guests(*host_.processes, *std::move(members), guests_);
  return members;
}

Controllers CgroupV1::controllers() const { return controllers_of_v1(host_); }

bool CgroupV1::is_ours(const std::string& group) const { return group.starts_with(in_root("corelane-")); }

// Tells whether the process is in a set of its own: a process of a tree may have its own reservation.
bool CgroupV1::has_own_set(int pid) const {
  const auto group = host_.processes->group_of(pid, "cpuset");
  return group && is_ours(*group) && *group != common_group();
}

std::string CgroupV1::home_of(int id) const {
  const auto group = host_.processes->group_of(id, "cpuset");
  return group && *group != root_ && !is_ours(*group) ? *group : common_group();
}

}  // namespace corelane::reserved
