#include "services/reserved/backends/interrupts.h"

#include <algorithm>

#include "services/reserved/accounts/cpu_list.h"
#include "services/reserved/backends/group_files.h"

namespace corelane::reserved {

void Interrupts::keep_to(const std::vector<CoreId>& cores) {
  report_ = {};
  if (folder_.empty()) return;
  for (const std::string& number : MountedGroups(folder_).children(""))
    if (!steer(number + "/smp_affinity_list", cores)) ++report_.fixed;
}

// False: the kernel does not let it.
bool Interrupts::steer(const std::string& file, const std::vector<CoreId>& cores) {
  MountedGroups folder(folder_);
  const auto& entries = journal_->entries();
  const auto kept = std::ranges::find(entries, file, &JournalEntry::subject);
  const auto now = parse_list(folder.read(file).value_or("?"));
  const auto first = kept == entries.end() ? now : parse_list(kept->before);
  if (!now || !first) return false;
  auto wanted = common_to(*first, cores);
  if (wanted.empty()) wanted = cores;
  if (*now == wanted) {
    if (kept != entries.end()) ++report_.steered;
    return true;
  }
  const JournalEntry entry{.kind = JournalEntry::Kind::interrupt, .subject = file, .before = list_text(*first)};
  if (kept == entries.end() && !journal_->add(entry)) return false;
  const bool done = folder.write(file, list_text(wanted)) == 0;
  if (done && wanted != *first) ++report_.steered;
  if (wanted == *first || (!done && *now == *first)) journal_->drop(entry);
  return done;
}

}  // namespace corelane::reserved
