#include "orb/base/settings/setting_values.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "orb/base/contract.h"

namespace corelane::parse {
namespace {

// The longest duration of a setting. Added to the current time, it cannot overflow Time.
constexpr std::chrono::hours longest_span{366 * 24};

}  // namespace

std::string directory(std::string_view text, std::string& out) {
  if (!text.empty() && !text.starts_with('/')) return "a path that begins with /";
  return any_text(text, out);
}

std::string size(std::string_view text, std::size_t& out, std::size_t least, std::size_t most) {
  return number<std::size_t>(text, out, least, most);
}

std::string bytes(std::string_view text, std::size_t& out, std::size_t least, std::size_t most) {
  struct Unit {
    std::string_view name;
    unsigned shift;
  };
  constexpr Unit units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  const auto unit = std::ranges::find_if(units, [&](const Unit& u) { return text.ends_with(u.name); });
  const unsigned shift = unit == std::end(units) ? 0 : unit->shift;
  std::size_t value = 0;
  const std::string_view digits = shift == 0 ? text : text.substr(0, text.size() - unit->name.size());
  const bool is_number =
      number<std::size_t>(digits, value, 0, std::numeric_limits<std::size_t>::max() >> shift).empty();
  value <<= shift;
  if (is_number && value >= least && value <= most) return out = value, std::string{};
  return "a number of bytes, such as 64KiB, 64MiB or 1GiB, from " + std::to_string(least) + " to " +
         std::to_string(most);
}

std::string span_of_time(std::string_view text, Duration& out) {
  const std::optional<Duration> value = parse_duration(text);
  if (!value) return "a duration such as 500ms (a whole number and ns, us, ms or s)" + duration_hint(text);
  if (*value > longest_span) return "a duration of 366 days (31622400s) at most";
  out = *value;
  return {};
}

std::string some_time(std::string_view text, Duration& out) {
  Duration span{};
  if (std::string fault = span_of_time(text, span); !fault.empty()) return fault;
  if (span <= Duration::zero()) return "a duration of more than 0s, such as 500ms";
  return out = span, std::string{};
}

std::string yes_or_no(std::string_view text, bool& out) {
  if (text == "on" || text == "true" || text == "1") return out = true, std::string{};
  if (text == "off" || text == "false" || text == "0") return out = false, std::string{};
  return "on or off";
}

std::string cores(std::string_view text, std::vector<CoreId>& out) {
  constexpr std::string_view expected = "all, or hardware threads such as 0,2-5";
  std::vector<CoreId> result;
  if (text.empty()) return std::string(expected);
  if (text == "all") text = {};
  while (!text.empty()) {  // bound: the text
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t dash = item.find('-');
    std::int16_t first = 0, last = 0;
    if (!number<std::int16_t>(item.substr(0, dash), first, 0, 4095).empty()) return std::string(expected);
    last = first;
    if (dash != item.npos && !number<std::int16_t>(item.substr(dash + 1), last, first, 4095).empty())
      return std::string(expected);
    for (std::int16_t core = first; core <= last; ++core) result.push_back(CoreId{core});  // bound: 4096
  }
  out = std::move(result);
  return {};
}

}  // namespace corelane::parse
