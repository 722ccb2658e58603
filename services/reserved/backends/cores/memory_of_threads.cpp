#include "services/reserved/backends/cores/memory_of_threads.h"

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "orb/os/machine/core_list.h"

namespace corelane::reserved {

using Kind = JournalEntry::Kind;

namespace {

JournalEntry entry_of(const Process& thread, const ThreadMemory::Mask& mask) {
  return {.kind = Kind::affinity,
          .subject = os::core_list_text(mask.given),
          .process = thread,
          .before = os::core_list_text(mask.before)};
}

}  // namespace

const JournalEntry* ThreadMemory::find(Kind kind, const Process& process) const {
  const auto& entries = host_->journal->entries();
  const auto found = std::ranges::find_if(
      entries, [&](const JournalEntry& entry) { return entry.kind == kind && entry.process == process; });
  return found == entries.end() ? nullptr : &*found;
}

const JournalEntry* ThreadMemory::find_home(const std::string& hierarchy, const Process& process,
                                            const std::string& list) const {
  const auto& entries = host_->journal->entries();
  const auto found = std::ranges::find_if(entries, [&](const JournalEntry& entry) {
    return entry.kind == Kind::home && entry.process == process && entry.where == hierarchy && entry.subject == list;
  });
  return found == entries.end() ? nullptr : &*found;
}

Done<void> ThreadMemory::keep_affinity_as(int thread, const std::vector<CoreId>& cores) {
  const auto process = host_->processes->identity(thread);
  if (!process || find(Kind::affinity, *process) != nullptr) return {};
  return host_->journal->add({.kind = Kind::affinity, .process = *process, .before = os::core_list_text(cores)});
}

void ThreadMemory::forget_affinity(int thread) {
  const auto process = host_->processes->identity(thread);
  if (const JournalEntry* entry = process ? find(Kind::affinity, *process) : nullptr)
    host_->journal->drop(JournalEntry(*entry));
}

Done<void> ThreadMemory::add_mask(const Process& thread, const Mask& mask) {
  const JournalEntry entry = entry_of(thread, mask);
  if (std::ranges::find(host_->journal->entries(), entry) != host_->journal->entries().end()) return {};
  return host_->journal->add(entry);
}

std::vector<ThreadMemory::Mask> ThreadMemory::masks_of(const Process& thread) const {
  std::vector<Mask> masks;
  for (const JournalEntry& entry : host_->journal->entries()) {
    if (entry.kind != Kind::affinity || entry.process != thread) continue;
    auto before = os::parse_core_list(entry.before), given = os::parse_core_list(entry.subject);
    if (before && given) masks.push_back({*std::move(before), *std::move(given)});
  }
  return masks;
}

void ThreadMemory::keep_only(const Process& thread, const Mask& mask) {
  for (const Mask& other : masks_of(thread))
    if (other != mask) host_->journal->drop(entry_of(thread, other));
}

Done<void> ThreadMemory::keep_home(const std::string& hierarchy, const Process& process, const std::string& group,
                                   const std::string& list) {
  if (find_home(hierarchy, process, list) != nullptr) return {};
  return host_->journal->add(
      {.kind = Kind::home, .where = hierarchy, .subject = list, .process = process, .before = group});
}

std::optional<std::string> ThreadMemory::kept_home(const std::string& hierarchy, const Process& process) const {
  const JournalEntry* entry = find_home(hierarchy, process, {});
  return entry == nullptr ? std::nullopt : std::optional(entry->before);
}

void ThreadMemory::forget_home(const std::string& hierarchy, const Process& process, const std::string& list) {
  if (const JournalEntry* entry = find_home(hierarchy, process, list)) host_->journal->drop(JournalEntry(*entry));
}

Done<void> ThreadMemory::keep_scheduling(const Process& thread) {
  const auto now = host_->processes->scheduling(thread.pid);
  if (!now || find(Kind::policy, thread) != nullptr) return {};
  return host_->journal->add({.kind = Kind::policy, .process = thread, .before = scheduling_text(*now)});
}

int ThreadMemory::put_back_scheduling(const Process& thread) {
  const JournalEntry* const found = find(Kind::policy, thread);
  if (found == nullptr) return 0;
  const JournalEntry entry = *found;
  const int fault = reserved::put_back_scheduling(*host_->processes, entry);
  if (fault == 0) host_->journal->drop(entry);
  return fault;
}

void ThreadMemory::forget_dead() {
  const std::vector<JournalEntry> entries = host_->journal->entries();
  for (const JournalEntry& entry : entries)
    if (entry.process.pid != 0 && !is_same(*host_->processes, entry.process)) host_->journal->drop(entry);
}

// Restores the scheduling if the thread is under SCHED_DEADLINE now. Otherwise it never got there, or another program
// has changed it on purpose.
int put_back_scheduling(ProcessTable& processes, const JournalEntry& entry) {
  if (!is_same(processes, entry.process)) return 0;
  const int thread = entry.process.pid;
  const auto now = processes.scheduling(thread);
  const os::SchedulingClass before = parse_scheduling(entry.before);
  if (!now || !now->is_deadline() || *now == before) return 0;
  int fault = processes.set_scheduling(thread, before);
  // A deadline share that the thread had itself may no longer fit. Then it becomes an ordinary thread.
  if (fault != 0 && fault != ESRCH) fault = processes.set_scheduling(thread, {});
  return fault == ESRCH ? 0 : fault;
}

std::string scheduling_text(const os::SchedulingClass& scheduling) {
  std::ostringstream text;
  text << scheduling.policy << ' ' << scheduling.flags << ' ' << scheduling.nice << ' ' << scheduling.priority << ' '
       << scheduling.runtime << ' ' << scheduling.deadline << ' ' << scheduling.period;
  return text.str();
}

os::SchedulingClass parse_scheduling(const std::string& text) {
  os::SchedulingClass read;
  std::istringstream numbers(text);
  numbers >> read.policy >> read.flags >> read.nice >> read.priority >> read.runtime >> read.deadline >> read.period;
  return numbers ? read : os::SchedulingClass{};
}

}  // namespace corelane::reserved
