#include "services/corelane/trace/record_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "orb/base/contract.h"
#include "orb/base/peer.h"
#include "orb/base/settings/overrun_name.h"
#include "orb/sched/refusal.h"

namespace corelane::tool {
namespace {

using sched::TraceKind;

constexpr std::array<std::string_view, 16> durations{
    "period",   "budget",   "jitter",     "suspension",   "section1",   "section2", "section3", "section4",
    "response", "blocking", "fit_period", "fit_deadline", "fit_budget", "used",     "waited",   "slept"};

// A contract's deadline is a duration, and a job's an instant.
bool is_duration(TraceKind kind, std::string_view name) {
  if (name == "deadline") return kind != TraceKind::run && kind != TraceKind::missed;
  return std::ranges::find(durations, name) != durations.end();
}

// Returns the value as it is, if it has no other form.
std::string value_text(TraceKind kind, std::string_view name, std::string_view digits) {
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (is_duration(kind, name)) return to_string(Duration{value});
  if (name == "peer") return std::to_string(connection_of(PeerId{static_cast<std::uint64_t>(value)}).value);
  if (name == "on_overrun" && value >= 0 && value < static_cast<std::int64_t>(overrun_names.size()))
    return std::string(overrun_names[static_cast<std::size_t>(value)]);
  if (name == "code") {
    const std::string_view known = sched::name_of(static_cast<sched::RefusalCode>(value));
    if (!known.empty()) return std::string(known);
  }
  return std::string(digits);
}

}  // namespace

std::string text_for_people(const sched::TraceView& record) {
  const std::string numbers = text_of(record);
  if (record.kind == TraceKind::named) return numbers;  // ends with a name, which may have any characters
  std::string text;
  for (std::string_view left = numbers; !left.empty();) {  // bound: the words
    const std::string_view word = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    const std::size_t sign = word.find('=');
    text += text.empty() ? "" : " ";
    if (sign == word.npos)
      text += word;
    else
      text.append(word.substr(0, sign + 1))
          .append(value_text(record.kind, word.substr(0, sign), word.substr(sign + 1)));
  }
  return text;
}

}  // namespace corelane::tool
