#include "orb/os/machine/core_list.h"

#include <algorithm>
#include <charconv>

namespace corelane::os {
namespace {

constexpr int core_limit = 8192;  // the kernel's limit (NR_CPUS)

struct CoreRange {
  int first = 0;
  int last = 0;
};

std::optional<int> take_core(std::string_view& text) {
  int number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || number < 0 || number >= core_limit) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<CoreRange> take_core_range(std::string_view& text) {
  const auto first = take_core(text);
  if (!first) return std::nullopt;
  if (!text.starts_with('-')) return CoreRange{*first, *first};
  text.remove_prefix(1);
  const auto last = take_core(text);
  if (!last || *last < *first) return std::nullopt;
  return CoreRange{*first, *last};
}

}  // namespace

std::string core_list_text(const std::vector<CoreId>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1].value == cores[last].value + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cores[i].value);
    if (last > i) text += '-' + std::to_string(cores[last].value);
    i = last + 1;
  }
  return text;
}

std::optional<std::vector<CoreId>> parse_core_list(std::string_view text) {
  std::vector<CoreId> cores;
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  while (!text.empty()) {
    const auto range = take_core_range(text);
    if (!range || (!text.empty() && (!text.starts_with(',') || text.size() == 1))) return std::nullopt;
    if (!text.empty()) text.remove_prefix(1);
    for (int core = range->first; core <= range->last; ++core) cores.push_back({static_cast<std::int16_t>(core)});
    if (cores.size() > static_cast<std::size_t>(2 * core_limit)) return std::nullopt;
  }
  std::ranges::sort(cores);
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

}  // namespace corelane::os
