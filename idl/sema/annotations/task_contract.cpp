#include "idl/sema/annotations/task_contract.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>

namespace corelane::idl {
namespace {

using std::chrono::nanoseconds;

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr Unit units[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};
constexpr nanoseconds longest_time = std::chrono::hours{1};

ContractFault outside(std::string field, std::string_view symbol, nanoseconds value, const std::string& range) {
  std::string message = field;
  message.append(" ").append(symbol).append(" = ").append(spell_duration(value));
  message.append(" is outside ").append(range);
  return {std::move(field), std::move(message)};
}

std::string up_to(std::string_view relation, nanoseconds limit) {
  return std::string(relation) + " = " + spell_duration(limit);
}

// Checks that at most eight jobs can wait at once. Admission control refuses more, so no client could be admitted with
// such a contract.
std::optional<ContractFault> backlog_fault_of(const TaskContract& c) {
  constexpr std::int64_t most = 8;
  const nanoseconds span = c.deadline + c.jitter;
  const auto up = [](nanoseconds a, std::int64_t b) { return (a + nanoseconds{b - 1}) / b; };
  const std::int64_t periods = up(span, c.period.count()).count();
  if (periods <= most) return std::nullopt;
  // The hint must hold for the given jitter and for the default jitter, which is a tenth of the period here.
  const nanoseconds shortest_period =
      std::chrono::ceil<std::chrono::microseconds>(std::max(up(span, most), up(10 * c.deadline, 10 * most - 1)));
  return ContractFault{"deadline", "deadline D = " + spell_duration(c.deadline) +
                                       " and jitter J = " + spell_duration(c.jitter) + " span " +
                                       std::to_string(periods) + " periods, and at most " + std::to_string(most) +
                                       " jobs of a task may wait: use T >= " + spell_duration(shortest_period)};
}

}  // namespace

std::optional<nanoseconds> parse_duration(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc{}) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name != suffix) continue;
    std::int64_t value = 0;
    if (__builtin_mul_overflow(count, unit.nanoseconds, &value)) return std::nullopt;
    return nanoseconds{value};
  }
  return std::nullopt;
}

std::string duration_hint(std::string_view text) {
  constexpr std::size_t most_digits = 9;  // of the fraction: from 1 s down to 1 ns
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
  const std::optional<nanoseconds> scaled = parse_duration(plain);
  if (plain == text || !scaled || scaled->count() == 0 || scaled->count() % divisor != 0) return {};
  return "; a duration has no blank and no fraction: write \"" + spell_duration(*scaled / divisor) + '"';
}

std::string spell_duration(nanoseconds duration) {
  const std::int64_t count = duration.count();
  for (const Unit& unit : units)
    if (count % unit.nanoseconds == 0 && (count != 0 || unit.nanoseconds == 1))
      return std::to_string(count / unit.nanoseconds).append(unit.name);
  return {};  // not reached: every count is a multiple of 1 ns
}

std::optional<ContractFault> fault_of(const TaskContract& c) {
  constexpr nanoseconds zero{};
  if (c.period <= zero || c.period > longest_time) return outside("period", "T", c.period, "0 < T <= 1 h");
  if (c.deadline <= zero || c.deadline > longest_time) return outside("deadline", "D", c.deadline, "0 < D <= 1 h");
  if (c.budget <= zero || c.budget > c.deadline)
    return outside("budget", "C", c.budget, up_to("0 < C <= D", c.deadline));
  if (c.jitter < zero || c.jitter >= c.deadline)
    return outside("jitter", "J", c.jitter, up_to("0 <= J < D", c.deadline));
  if (c.suspension < zero || c.suspension > c.deadline - c.budget)
    return outside("suspension", "S", c.suspension, up_to("0 <= S <= D - C", c.deadline - c.budget));
  return backlog_fault_of(c);
}

std::optional<ContractFault> fault_of(const TaskContract& c, const ResourceUse& use) {
  constexpr std::size_t most_uses = 4, longest_name = 64;
  constexpr std::string_view name_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/-";
  const std::string& name = use.resource;
  if (name.empty() || name.size() > longest_name || name.find_first_not_of(name_characters) != name.npos)
    return ContractFault{"resource", "a resource's name has 1 to 64 letters, digits and _ . : / -"};
  if (c.uses.size() == most_uses) return ContractFault{"resource", "an operation uses at most four resources"};
  for (const ResourceUse& other : c.uses)
    if (other.resource == name) return ContractFault{"resource", "the resource `" + name + "` is named twice"};
  if (use.longest <= nanoseconds{} || use.longest > c.budget)
    return outside("longest", "L", use.longest, up_to("0 < L <= C", c.budget));
  if (c.suspension > nanoseconds{})
    return ContractFault{"resource",
                         "a task that suspends itself uses no resource, because a task must not sleep with a lock"};
  return std::nullopt;
}

}  // namespace corelane::idl
