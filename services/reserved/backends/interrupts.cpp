#include "services/reserved/backends/interrupts.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "orb/os/machine/core_list.h"
#include "services/reserved/accounts/core_sets.h"
#include "services/reserved/backends/group_files.h"

namespace corelane::reserved {
namespace {

constexpr const char* of_those_to_come = "default_smp_affinity";
constexpr std::int16_t group_bits = 32;

// Parses a mask such as "ff,ffffffff": hexadecimal, the highest cores first, in groups of 32.
std::optional<std::vector<CoreId>> parse_mask(std::string_view text) {
  std::vector<CoreId> cores;
  std::int16_t first = 0;
  while (!text.empty()) {
    const std::size_t comma = text.rfind(',');
    const std::string_view group = comma == std::string_view::npos ? text : text.substr(comma + 1);
    text = comma == std::string_view::npos ? "" : text.substr(0, comma);
    std::uint32_t bits = 0;
    const auto [end, fault] = std::from_chars(group.data(), group.data() + group.size(), bits, 16);
    if (fault != std::errc{} || end != group.data() + group.size() || first > 8192) return std::nullopt;
    for (std::int16_t bit = 0; bit < group_bits; ++bit)
      if ((bits >> bit & 1) != 0) cores.push_back({static_cast<std::int16_t>(first + bit)});
    first = static_cast<std::int16_t>(first + group_bits);
  }
  return cores;
}

std::string mask_text(const std::vector<CoreId>& cores) {
  std::vector<std::uint32_t> groups(1);
  for (const CoreId core : cores) {
    const auto group = static_cast<std::size_t>(core.value / group_bits);
    if (group >= groups.size()) groups.resize(group + 1);
    groups[group] |= std::uint32_t{1} << core.value % group_bits;
  }
  std::string text;
  char part[16];
  for (std::size_t at = groups.size(); at-- > 0;) {
    std::snprintf(part, sizeof part, text.empty() ? "%x" : ",%08x", groups[at]);
    text += part;
  }
  return text;
}

}  // namespace

void Interrupts::keep_to(const std::vector<CoreId>& cores) {
  again_ = false;
  refused_.clear();
  look(cores);
}

unsigned Interrupts::keep_away_again(const std::vector<CoreId>& cores) {
  again_ = true;
  look(cores);
  return strayed_;
}

void Interrupts::look(const std::vector<CoreId>& cores) {
  strayed_ = 0;
  report_ = {};
  if (folder_.empty()) return;
  const InterruptReport none = report_;
  if (MountedGroups(folder_).has(of_those_to_come)) steer(of_those_to_come, {parse_mask, mask_text}, cores);
  report_ = none;
  for (const std::string& number : MountedGroups(folder_).children(""))
    if (!steer(number + "/smp_affinity_list", {os::parse_core_list, os::core_list_text}, cores)) ++report_.fixed;
}

// Returns false if the kernel does not allow the change.
bool Interrupts::steer(const std::string& file, const Form& form, const std::vector<CoreId>& cores) {
  if (refused_.contains(file)) return false;
  MountedGroups folder(folder_);
  const auto& entries = journal_->entries();
  const auto kept = std::ranges::find(entries, file, &JournalEntry::subject);
  const auto now = form.parse(folder.read(file).value_or("?"));
  const auto first = kept == entries.end() ? now : form.parse(kept->before);
  if (!now || !first) return false;
  auto wanted = common_to(*first, cores);
  if (wanted.empty()) wanted = cores;
  if (*now == wanted || (again_ && without(*now, cores).empty())) {
    if (kept != entries.end()) ++report_.steered;
    return true;
  }
  const bool kept_before = kept != entries.end();
  const JournalEntry entry{.kind = JournalEntry::Kind::interrupt, .subject = file, .before = form.text(*first)};
  if (!kept_before && !journal_->add(entry)) return false;
  const bool done = folder.write(file, form.text(wanted)) == 0;
  if (!done && !kept_before) refused_.insert(file);  // one that was steered before is tried again
  if (done && wanted != *first) ++report_.steered;
  if (done && kept_before) ++strayed_;
  if (done ? wanted == *first : *now == *first) journal_->drop(entry);  // the interrupt goes where it went at first
  return done;
}

}  // namespace corelane::reserved
