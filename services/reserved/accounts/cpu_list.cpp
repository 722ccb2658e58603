#include "services/reserved/accounts/cpu_list.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace corelane::reserved {
namespace {

constexpr int core_limit = 8192;  // of the kernel (NR_CPUS)

struct Range {
  int first = 0;
  int last = 0;
};

std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || number < 0 || number >= core_limit) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<Range> take_range(std::string_view& text) {
  const auto first = take_number(text);
  if (!first) return std::nullopt;
  if (!text.starts_with('-')) return Range{*first, *first};
  text.remove_prefix(1);
  const auto last = take_number(text);
  if (!last || *last < *first) return std::nullopt;
  return Range{*first, *last};
}

}  // namespace

std::string list_text(const std::vector<CoreId>& cores) {
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

std::optional<std::vector<CoreId>> parse_list(std::string_view text) {
  std::vector<CoreId> cores;
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  while (!text.empty()) {
    const auto range = take_range(text);
    if (!range || (!text.empty() && (!text.starts_with(',') || text.size() == 1))) return std::nullopt;
    if (!text.empty()) text.remove_prefix(1);
    for (int core = range->first; core <= range->last; ++core) cores.push_back({static_cast<std::int16_t>(core)});
    if (cores.size() > static_cast<std::size_t>(2 * core_limit)) return std::nullopt;
  }
  std::ranges::sort(cores);
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::vector<CoreId> without(const std::vector<CoreId>& from, const std::vector<CoreId>& these) {
  std::vector<CoreId> rest;
  std::ranges::set_difference(from, these, std::back_inserter(rest));
  return rest;
}

std::vector<CoreId> common_to(const std::vector<CoreId>& a, const std::vector<CoreId>& b) {
  std::vector<CoreId> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

std::vector<CoreId> joined(const std::vector<CoreId>& a, const std::vector<CoreId>& b) {
  std::vector<CoreId> all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

bool holds(const std::vector<CoreId>& set, CoreId core) { return std::ranges::binary_search(set, core); }

}  // namespace corelane::reserved
