#include "services/reserved/backends/cores/bindings.h"

#include <utility>

#include "orb/os/machine/core_list.h"
#include "services/reserved/accounts/core_sets.h"

namespace corelane::reserved {

const std::vector<CoreId>& Bindings::cores_of_group(const std::string& group) {
  if (const auto known = sets_.find(group); known != sets_.end()) return known->second;
  std::optional<std::string> text;
  std::string at = group;
  for (;;) {  // bound: the depth of the path
    text = groups_->read(joined_path(at, file_));
    if (text || at.empty()) break;
    const std::size_t slash = at.rfind('/');
    at = slash == std::string::npos ? "" : at.substr(0, slash);
  }
  return sets_[group] = os::parse_core_list(text.value_or("")).value_or(std::vector<CoreId>{});
}

// Returns null if the thread has ended or cannot be read. Returns an empty list if its group cannot be read.
const std::vector<CoreId>* Bindings::cores_of_set(int thread) {
  const auto group = host_->processes->group_of(thread, controller_);
  return group ? &cores_of_group(*group) : nullptr;
}

std::vector<CoreId> Bindings::cores_around(int thread) {
  const auto* set = cores_of_set(thread);
  return set == nullptr ? std::vector<CoreId>{} : *set;
}

Done<void> Bindings::keep_all() {
  sets_.clear();
  refresh();
  for (const int pid : host_->processes->all())
    for (const int thread : host_->processes->threads_of(pid))
      if (auto kept = keep(thread); !kept) return kept;
  return {};
}

Done<void> Bindings::keep(int thread) {
  const auto now = host_->processes->affinity(thread);
  const auto* set = cores_of_set(thread);
  if (!now || set == nullptr || set->empty() || *now == *set || host_->processes->is_fixed(thread)) return {};
  return memory_.keep_affinity_as(thread, *now);
}

std::vector<Bindings::Kept> Bindings::kept() const {
  std::vector<Kept> kept;
  for (const JournalEntry& entry : host_->journal->entries()) {
    if (entry.kind != JournalEntry::Kind::affinity || !is_same(*host_->processes, entry.process)) continue;
    if (auto cores = os::parse_core_list(entry.before)) kept.push_back({entry.process.pid, *std::move(cores)});
  }
  return kept;
}

void Bindings::bind_again() {
  sets_.clear();
  for (const Kept& one : kept()) {
    const auto* set = cores_of_set(one.thread);
    const auto now = host_->processes->affinity(one.thread);
    if (set == nullptr || !now) continue;
    const auto wanted = common_to(one.cores, *set);
    if (!wanted.empty() && *now != wanted) host_->processes->set_affinity(one.thread, wanted);
  }
}

void Bindings::refresh() {
  sets_.clear();
  for (const Kept& one : kept()) {
    const auto* set = cores_of_set(one.thread);
    const auto now = host_->processes->affinity(one.thread);
    if (set == nullptr || set->empty() || !now) continue;
    auto expected = common_to(one.cores, *set);
    if (*now == (expected.empty() ? *set : expected)) continue;
    memory_.forget_affinity(one.thread);
    (void)keep(one.thread);  // on failure the thread may use its whole set
  }
}

}  // namespace corelane::reserved
