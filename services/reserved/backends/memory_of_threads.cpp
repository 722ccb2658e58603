#include "services/reserved/backends/memory_of_threads.h"

#include <algorithm>

#include "orb/os/core_list.h"

namespace corelane::reserved {

using Kind = JournalEntry::Kind;

const JournalEntry* ThreadMemory::find(Kind kind, const Process& process, const std::string& where) const {
  const auto& entries = host_->journal->entries();
  const auto found = std::ranges::find_if(entries, [&](const JournalEntry& entry) {
    return entry.kind == kind && entry.process == process && entry.where == where;
  });
  return found == entries.end() ? nullptr : &*found;
}

Done<void> ThreadMemory::keep_affinity_as(int thread, const std::vector<CoreId>& cores) {
  const auto process = host_->processes->identity(thread);
  if (!process || find(Kind::affinity, *process) != nullptr) return {};
  return host_->journal->add({.kind = Kind::affinity, .process = *process, .before = os::core_list_text(cores)});
}

std::optional<std::vector<CoreId>> ThreadMemory::kept_affinity(int thread) const {
  const auto process = host_->processes->identity(thread);
  const JournalEntry* entry = process ? find(Kind::affinity, *process) : nullptr;
  if (entry == nullptr) return std::nullopt;
  return os::parse_core_list(entry->before);
}

void ThreadMemory::forget_affinity(int thread) {
  const auto process = host_->processes->identity(thread);
  if (const JournalEntry* entry = process ? find(Kind::affinity, *process) : nullptr)
    host_->journal->drop(JournalEntry(*entry));
}

Done<void> ThreadMemory::keep_home(const std::string& hierarchy, const Process& process, const std::string& group) {
  if (find(Kind::home, process, hierarchy) != nullptr) return {};
  return host_->journal->add({.kind = Kind::home, .where = hierarchy, .process = process, .before = group});
}

std::optional<std::string> ThreadMemory::take_home(const std::string& hierarchy, const Process& process) {
  const JournalEntry* entry = find(Kind::home, process, hierarchy);
  if (entry == nullptr) return std::nullopt;
  const JournalEntry kept = *entry;
  host_->journal->drop(kept);
  return kept.before;
}

void ThreadMemory::forget_dead() {
  const std::vector<JournalEntry> entries = host_->journal->entries();
  for (const JournalEntry& entry : entries)
    if (entry.process.pid != 0 && !is_same(*host_->processes, entry.process)) host_->journal->drop(entry);
}

}  // namespace corelane::reserved
