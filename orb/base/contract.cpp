#include "orb/base/contract.h"

#include <algorithm>
#include <charconv>

namespace corelane {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr Unit units[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};

std::string out_of_range(std::string_view field, std::string_view range, Duration value) {
  return std::string(field) + " = " + to_string(value) + " is outside " + std::string(range);
}

std::optional<std::string> fault_of_uses(const Contract& c) {
  for (std::size_t i = 0; i < c.uses.size(); ++i) {
    const ResourceUse& use = c.uses[i];
    const std::string name = "uses[" + std::to_string(i) + "]";
    if (use.resource == no_resource && use.longest == Duration{}) continue;
    if (use.resource == no_resource) return name + " = " + to_string(use.longest) + " names no resource";
    if (use.longest <= Duration{} || use.longest > c.budget)
      return out_of_range("the longest section of " + name, "0 < L <= C = " + to_string(c.budget), use.longest);
    for (std::size_t j = 0; j < i; ++j)
      if (c.uses[j].resource == use.resource) return name + " is the resource of uses[" + std::to_string(j) + "], too";
  }
  if (c.suspension > Duration{} && uses_resources(c))
    return "suspension S = " + to_string(c.suspension) + " is not possible for a task that locks resources; use S = 0";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> fault_of(const Contract& c) {
  constexpr Duration zero{};
  if (c.period <= zero || c.period > longest_period) return out_of_range("period T", "0 < T <= 1 h", c.period);
  if (c.deadline <= zero || c.deadline > longest_period) return out_of_range("deadline D", "0 < D <= 1 h", c.deadline);
  if (c.budget <= zero || c.budget > c.deadline)
    return out_of_range("budget C", "0 < C <= D = " + to_string(c.deadline), c.budget);
  if (c.jitter < zero || c.jitter >= c.deadline)
    return out_of_range("jitter J", "0 <= J < D = " + to_string(c.deadline), c.jitter);
  if (c.suspension < zero || c.suspension > c.deadline - c.budget)
    return out_of_range("suspension S", "0 <= S <= D - C = " + to_string(c.deadline - c.budget), c.suspension);
  if (c.on_overrun > OverrunPolicy::cancel)
    return "on_overrun = " + std::to_string(static_cast<int>(c.on_overrun)) + " is none of report, demote and cancel";
  return fault_of_uses(c);
}

Contract make_contract(Duration period, Duration budget, std::optional<Duration> deadline,
                       std::optional<Duration> jitter) noexcept {
  Contract contract{.period = period, .deadline = deadline.value_or(period), .budget = budget};
  contract.jitter = jitter.value_or(std::min(period / 10, contract.deadline / 10));
  return contract;
}

std::optional<Duration> parse_duration(std::string_view text) noexcept {
  std::uint64_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc{}) return std::nullopt;
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units) {
    if (unit.name != suffix) continue;
    std::int64_t nanoseconds = 0;
    if (__builtin_mul_overflow(count, unit.nanoseconds, &nanoseconds)) return std::nullopt;
    return Duration{nanoseconds};
  }
  return std::nullopt;
}

std::string duration_hint(std::string_view text) {
  constexpr std::size_t most_digits = 9;  // digits of the fraction: down to 1 ns of 1 s
  std::string plain(text.substr(std::min(text.find_first_not_of(' '), text.size())));
  plain.erase(plain.find_last_not_of(' ') + 1);
  if (const std::size_t blank = plain.find(' '); blank != plain.npos)
    plain.erase(blank, plain.find_first_not_of(' ', blank) - blank);
  const std::size_t unit = plain.find_first_not_of("0123456789."), point = plain.find('.');
  std::int64_t divisor = 1;
  if (unit != plain.npos && point < unit) {
    if (unit - point > most_digits + 1) return {};
    for (std::size_t i = point + 1; i < unit; ++i) divisor *= 10;
    plain.erase(point, 1);
  }
  const std::optional<Duration> scaled = parse_duration(plain);
  if (plain == text || !scaled || scaled->count() == 0 || scaled->count() % divisor != 0) return {};
  return "; a duration has no blank and no fraction: write " + to_string(*scaled / divisor);
}

std::string to_string(Duration duration) {
  const std::int64_t count = duration.count();
  for (const Unit& unit : units)
    if (count % unit.nanoseconds == 0 && (count != 0 || unit.nanoseconds == 1))
      return std::to_string(count / unit.nanoseconds) + std::string(unit.name);
  return {};  // not reached: every count is a multiple of 1 ns
}

}  // namespace corelane
