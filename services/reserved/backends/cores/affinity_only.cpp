#include "services/reserved/backends/cores/affinity_only.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "orb/os/machine/core_list.h"
#include "orb/os/peers/own_user.h"
#include "services/reserved/accounts/core_sets.h"
#include "services/reserved/backends/resources/resource_means.h"

namespace corelane::reserved {
namespace {

// Returns the cores a thread should have. A thread that has bound itself to some of its set's cores keeps that binding.
const std::vector<CoreId>& within(const std::vector<CoreId>& set, const std::vector<CoreId>& own) {
  return std::ranges::includes(set, own) ? own : set;
}

// Returns `text` if the setting reserved.processes, and not the host, is the reason for having no control groups.
std::string if_chosen(const Host& host, const char* text) { return host.of_process != 0 ? text : ""; }

}  // namespace

BackendReport AffinityOnly::report() const {
  BackendReport report{
      .kind = "affinity",
      .cannot = {"the kernel keeps no process off a reserved core" +
                     if_chosen(host_, ", because reserved.processes is set") + ": a thread may set its own affinity; " +
                     if_chosen(host_, "leave that setting out, and ") +
                     "cgroup v1 or v2 with the cpuset controller, and root, would",
                 "no shares: neither SCHED_DEADLINE on one core nor a bandwidth of a tree can be had without control "
                 "groups" +
                     if_chosen(host_, ": leave reserved.processes out"),
                 "a process of a tree is known as such when it was seen while its parent lived, once a second: a "
                 "program that puts itself into the background loses its cores; start it in the foreground"}};
  if (!os::runs_as_root())
    report.cannot.push_back("only programs of user " + std::to_string(geteuid()) +
                            " keep away from reserved cores: this server is not root, and may move no others");
  if (host_.of_process != 0)
    report.cannot.push_back("only process " + std::to_string(host_.of_process) +
                            " and what it started keep away from reserved cores: no other program of this host is "
                            "moved, since reserved.processes says so");
  return report;
}

std::string AffinityOnly::share_fault() const {
  return "shares need control groups, which are not to be had here" +
         if_chosen(host_, ", because reserved.processes is set") +
         "; ask for a whole core, or start corelane-reserved " + if_chosen(host_, "without that setting ") +
         "where cgroup v1 or v2 has the cpuset controller";
}

Done<StartReport> AffinityOnly::start(const std::vector<CoreId>& all) {
  all_ = common_ = all;
  return apply_to_all();
}

std::vector<Lost> AffinityOnly::sweep() {
  memory_.forget_dead();
  const auto has_ended = [&](const auto& item) { return !is_same(*host_.processes, item.second); };
  std::erase_if(unmovable_, has_ended);
  std::erase_if(seen_, has_ended);
  apply_to_all();
  return {};
}

Done<void> AffinityOnly::set_common(const std::vector<CoreId>& cores) {
  common_ = cores;
  changed_ = true;
  return {};
}

std::vector<Lost> AffinityOnly::settle() {
  if (std::exchange(changed_, false)) apply_to_all();
  return lost_of_entered();
}

std::vector<Lost> AffinityOnly::lost_of_entered() {
  std::vector<Lost> lost;
  for (const ReservationId id : std::exchange(entered_, {}))
    if (const auto member = members_.find(id); member != members_.end())
      if (std::string fault = fault_of(member->second); !fault.empty()) lost.push_back({id, std::move(fault)});
  return lost;
}

// Returns why a thread of the holder runs outside its set; "" if none does. Such a thread is tried again with the next
// change.
std::string AffinityOnly::fault_of(const Member& member) {
  const std::vector<CoreId>& cores = sets_[member.set].cores;
  for (const int thread : host_.processes->threads_of(member.holder.process.pid)) {
    const auto now = host_.processes->mask_of(thread);
    if (!now || std::ranges::includes(cores, *now)) continue;
    unmovable_.erase(thread);
    return "thread " + std::to_string(thread) + " of process " + std::to_string(member.holder.process.pid) +
           " cannot be moved to cores " + os::core_list_text(cores) + " and stays on " + os::core_list_text(*now) +
           ": " +
           (unwritten_.empty() ? "another program's cpuset may keep it there, or it runs under SCHED_DEADLINE, or it "
                                 "belongs to another user; change that first"
                               : unwritten_);
  }
  return {};
}

// Finds the descendants of each tree. The search starts at all members seen so far, so it still works when the tree's
// first process has ended. Each process is visited once per tree.
void AffinityOnly::look() {
  const auto is_tree = [](const auto& item) { return item.second.holder.extent == Extent::tree; };
  if (std::ranges::none_of(members_, is_tree)) return;
  const auto children = host_.processes->children();
  for (auto& [id, member] : members_) {
    if (member.holder.extent != Extent::tree) continue;
    std::erase_if(member.processes, [&](const auto& item) { return !host_.processes->is_running(item.second); });
    std::vector<int> walk;
    for (const auto& [pid, identity] : member.processes) walk.push_back(pid);
    std::set<int> known(walk.begin(), walk.end());
    for (std::size_t at = 0; at < walk.size(); ++at) {  // bound: the processes
      const auto [first, last] = children.equal_range(walk[at]);
      for (auto child = first; child != last; ++child) {
        if (!known.insert(child->second).second) continue;
        walk.push_back(child->second);
        if (const auto found = host_.processes->identity(child->second); found && host_.processes->is_running(*found))
          member.processes[child->second] = *found;
      }
    }
  }
}

// Returns the process and its ancestors, the nearest first.
std::vector<Process> AffinityOnly::line_of(const Process& process) const {
  const ProcessTable& processes = *host_.processes;
  std::vector<Process> line{process};
  for (;;) {  // bound: the depth of the tree of all processes
    const Process child = line.back();
    const int pid = processes.parent_of(child.pid);
    const auto parent = pid > 0 ? processes.identity(pid) : std::nullopt;
    // Read the parent again: if it ended meanwhile, its pid may belong to another process, and the child to an
    // ancestor.
    if (!parent || processes.parent_of(child.pid) != pid || !is_same(processes, child)) return line;
    line.push_back(*parent);
  }
}

void AffinityOnly::look_at(const Process& process) {
  if (!host_.processes->is_running(process)) return;
  const auto line = line_of(process);
  for (auto& [id, member] : members_) {
    const auto was_seen = [&known = member.processes](const Process& one) {
      const auto found = known.find(one.pid);
      return found != known.end() && found->second == one;
    };
    if (member.holder.extent == Extent::tree && std::ranges::any_of(line, was_seen))
      member.processes[process.pid] = process;
  }
}

Done<void> AffinityOnly::make_set(const SetName& set, const Place& place) {
  sets_[set] = place;
  return {};
}

// Returns the processes that are in a set, with the set's cores. A tree's process with a reservation of its own gets
// the cores of that one.
std::map<int, std::vector<CoreId>> AffinityOnly::owners() {
  look();
  std::map<int, std::vector<CoreId>> owners;
  const auto add = [&](int pid, const SetName& set) {
    if (const auto place = sets_.find(set); place != sets_.end()) owners[pid] = place->second.cores;
  };
  for (const auto& [id, member] : members_)
    if (member.holder.extent == Extent::tree)
      for (const auto& [pid, identity] : member.processes) add(pid, member.set);
  for (const auto& [id, member] : members_) add(member.holder.process.pid, member.set);
  for (const auto& [pid, guest] : guests_)
    if (is_same(*host_.processes, guest.service)) add(pid, guest.set);
  return owners;
}

// Sets the masks of all threads. Repeats until a round finds nothing to change. Bound: 100 rounds.
StartReport AffinityOnly::apply_to_all() {
  constexpr int rounds = 100;
  StartReport report;
  unwritten_.clear();
  for (int round = 0; round < rounds; ++round) {
    const auto owned = owners();
    bool changed = false;
    report.unmovable = 0;
    for (const int pid : host_.processes->all()) {
      const auto owner = owned.find(pid);
      for (const int thread : host_.processes->threads_of(pid))
        changed |= apply(thread, owner != owned.end() ? &owner->second : nullptr, report);
    }
    if (!changed) break;
  }
  return report;
}

// Returns the mask that the thread would have without this daemon. A mask that this daemon did not set is the thread's
// own, and replaces the recorded one. A mask that this daemon has set on other threads was inherited. There is one
// exception: if the thread existed before and the daemon did not change it, the mask is the thread's own.
std::vector<CoreId> AffinityOnly::original_of(int thread, const Process& identity, const std::vector<CoreId>& now) {
  const auto [seen, is_new] = seen_.try_emplace(thread, identity);
  const bool was_there = !is_new && std::exchange(seen->second, identity) == identity;
  if (const auto masks = memory_.masks_of(identity); !masks.empty()) {
    const auto ours = std::ranges::find(masks, now, &ThreadMemory::Mask::given);
    return ours == masks.end() ? now : ours->before;
  }
  return given_.contains(now) && !was_there ? all_ : now;
}

// Remembers a journal error. A change that cannot be written into the journal is not made.
bool AffinityOnly::is_written(const Done<void>& written) {
  if (!written) unwritten_ = written.error();
  return written.has_value();
}

// Writes down the threads that have bound themselves to exactly `cores`, before any thread is given that mask.
// Otherwise their mask would later look inherited.
Done<void> AffinityOnly::keep_own(const std::vector<CoreId>& cores) {
  for (const int pid : host_.processes->all())
    for (const int thread : host_.processes->threads_of(pid)) {
      if (host_.processes->mask_of(thread) != cores || host_.processes->is_fixed(thread)) continue;
      const auto identity = host_.processes->identity(thread);
      if (!identity || !memory_.masks_of(*identity).empty()) continue;
      if (auto kept = memory_.add_mask(*identity, {cores, cores}); !kept) return kept;
    }
  return {};
}

// Writes down a mask that threads are given. Their children inherit it. After a crash the next daemon must not take an
// inherited mask for the thread's own.
bool AffinityOnly::note_given(const std::vector<CoreId>& cores) {
  if (cores == all_ || given_.contains(cores)) return given_.insert(cores), true;
  const JournalEntry entry{
      .kind = JournalEntry::Kind::mask, .subject = os::core_list_text(cores), .before = os::core_list_text(all_)};
  if (!is_written(keep_own(cores))) return false;
  return is_written(host_.journal->add(entry)) && given_.insert(cores).second;
}

// Gives the thread its mask. `owned`: the cores of the set that the thread is in; null for the default set. A thread in
// the default set gets the part of its own mask that the default set has.
bool AffinityOnly::apply(int thread, const std::vector<CoreId>* owned, StartReport& report) {
  const auto now = host_.processes->mask_of(thread);
  const auto identity = host_.processes->identity(thread);
  if (!now || !identity) return false;
  if (const auto known = unmovable_.find(thread); known != unmovable_.end() && known->second == *identity) {
    ++report.unmovable;
    return false;
  }
  const auto original = original_of(thread, *identity, *now);
  auto wanted = owned != nullptr ? within(*owned, original) : common_to(original, common_);
  if (wanted.empty()) wanted = common_;
  // At its end the daemon would widen such a mask, unless it is in the journal.
  const bool looks_given = *now != all_ && given_.contains(*now);
  if (*now == wanted && *now == original && !looks_given) return memory_.forget_masks(*identity), false;
  if (host_.processes->is_fixed(thread)) {
    unmovable_[thread] = *identity;
    return ++report.unmovable, false;
  }
  // Also write down the mask that it has now. After a crash, a mask that is not in the journal is left alone.
  if (*now != original && !is_written(memory_.add_mask(*identity, {original, *now}))) return false;
  if (!is_written(memory_.add_mask(*identity, {original, wanted}))) return false;
  if (*now == wanted) return memory_.keep_only(*identity, {original, wanted}), false;
  if (!note_given(wanted)) return false;
  const int fault = host_.processes->set_affinity(thread, wanted);
  if (fault == 0) return note_had(*identity, {original, wanted}), ++report.moved, true;
  memory_.forget_masks(*identity);
  if (fault == ESRCH) return false;
  ++report.unmovable;
  unmovable_[thread] = *identity;
  return false;
}

// Records the mask that the thread really got. Another program's cpuset may leave it fewer cores than asked for.
void AffinityOnly::note_had(const Process& thread, ThreadMemory::Mask mask) {
  if (const auto had = host_.processes->mask_of(thread.pid); had && *had != mask.given)
    if (memory_.add_mask(thread, {mask.before, *had})) mask.given = *had;
  memory_.keep_only(thread, mask);
}

Done<Remarks> AffinityOnly::enter(const Enter& command) {
  const int pid = command.holder.process.pid;
  const auto known = host_.processes->all();
  if (std::ranges::find(known, pid) == known.end())
    return Unexpected{"process " + std::to_string(pid) + " is none that reserved.processes (" +
                      std::to_string(host_.of_process) + " and what it started) lets this daemon move"};
  members_[command.id] = {.holder = command.holder, .set = command.set, .processes = {{pid, command.holder.process}}};
  entered_.push_back(command.id);
  // Try again threads that the kernel refused to move before: the reason may be gone.
  for (const int member : host_.processes->members_of(command.holder))
    for (const int thread : host_.processes->threads_of(member)) unmovable_.erase(thread);
  changed_ = true;
  return Remarks{};
}

void AffinityOnly::leave(ReservationId id) { changed_ |= members_.erase(id) > 0; }

Done<void> AffinityOnly::join(const SetName& set, const Process& service) {
  guests_[service.pid] = {.service = service, .set = set};
  changed_ = true;
  return {};
}

void AffinityOnly::part(const Process& service, ReservationId) {
  const auto guest = guests_.find(service.pid);
  if (guest == guests_.end() || guest->second.service != service) return;
  guests_.erase(guest);
  changed_ = true;
}

Controllers AffinityOnly::controllers() const { return controllers_without_groups(host_); }

Members AffinityOnly::processes_of(ReservationId id) const {
  const auto found = members_.find(id);
  std::vector<int> living;
  if (found == members_.end()) return living;
  for (const auto& [pid, identity] : found->second.processes)
    if (host_.processes->is_running(identity)) living.push_back(pid);
  return living;
}

}  // namespace corelane::reserved
