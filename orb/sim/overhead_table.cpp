#include "orb/sim/overhead_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace corelane::sim {
namespace {

constexpr std::string_view task_count = "TASK-COUNT";
constexpr std::string_view working_set_size = "WSS";
constexpr std::array<std::string_view, 4> cache_levels{"L1", "L2", "L3", "MEM"};
constexpr std::array<std::string_view, 4> scheduling_columns{"RELEASE", "SCHEDULE", "CXS", "IPI-LATENCY"};
constexpr double longest_microseconds = 2e6;  // longest_random_time
constexpr double rounding_error = 1e-6;       // ns; more than that of a decimal fraction as a binary one

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Cuts the text at each separator. An empty text has one empty piece.
std::vector<std::string_view> pieces_of(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0)) return {};
  return value;
}

OverheadTableFault fault_at(std::size_t line, const std::string& what) {
  return {"line " + std::to_string(line) + " of the overheads " + what};
}

std::optional<OverheadTableFault> names_fault(std::span<const std::string> names, std::size_t line) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) return fault_at(line, "has no name in column " + std::to_string(i + 1) + ": give it one");
    if (std::find(names.begin() + static_cast<std::ptrdiff_t>(i) + 1, names.end(), names[i]) != names.end())
      return fault_at(line, "has two columns " + names[i] + ": remove one of them");
  }
  return {};
}

// Returns the value of a cell. The fault: it is no time that the simulator can charge.
Expected<double, OverheadTableFault> cell_of(std::string_view text, const std::string& column, std::size_t line,
                                             bool is_time) {
  const std::optional<double> value = number_in(text);
  if (!value)
    return fault_at(line, "has \"" + std::string(text) + "\" in column " + column + ": write a number from 0 on");
  if (is_time && *value > longest_microseconds)
    return fault_at(line,
                    "has " + std::string(text) + " in column " + column + ": write microseconds, 2 seconds at most");
  if (!is_time && *value > longest_microseconds * 1e6)
    return fault_at(line, "has " + std::string(text) + " in column " + column + ": write a smaller number");
  return *value;
}

// Returns the straight line through two points, at x.
double line_at(double x0, double y0, double x1, double y1, double x) { return y0 + (y1 - y0) * (x - x0) / (x1 - x0); }

double interpolated(std::span<const double> xs, std::span<const double> ys, double x) {
  if (xs.size() == 1) return ys[0];
  const auto above = std::lower_bound(xs.begin() + 1, xs.end() - 1, x);  // the last line at most, the second at least
  const auto i = static_cast<std::size_t>(above - xs.begin());
  return std::max(0.0, line_at(xs[i - 1], ys[i - 1], xs[i], ys[i], x));
}

}  // namespace

Expected<OverheadTable, OverheadTableFault> OverheadTable::parse(std::string_view text) {
  OverheadTable table;
  std::size_t line = 0;
  for (const std::string_view row : pieces_of(text, '\n')) {
    ++line;
    if (row.empty()) continue;
    if (auto fault = table.names_.empty() ? table.take_names(row, line) : table.take_values(row, line)) return *fault;
  }
  if (table.names_.empty())
    return OverheadTableFault{"the overheads are empty: write a line of names, such as TASK-COUNT, RELEASE, CXS"};
  if (table.values_[0].empty())
    return OverheadTableFault{"the overheads have no line of values: write one for each measured " +
                              table.depends_on()};
  return table;
}

std::optional<OverheadTableFault> OverheadTable::take_names(std::string_view row, std::size_t line) {
  for (const std::string_view name : pieces_of(row, ',')) names_.emplace_back(name);
  if (auto fault = names_fault(names_, line)) return fault;
  const auto argument = std::find_if(names_.begin(), names_.end(), [](const std::string& name) {
    return name == task_count || name == working_set_size;
  });
  if (argument == names_.end())
    return fault_at(line, "has neither a column TASK-COUNT nor a column WSS: write what the values depend on");
  argument_ = static_cast<std::size_t>(argument - names_.begin());
  values_.resize(names_.size());
  return {};
}

std::optional<OverheadTableFault> OverheadTable::take_values(std::string_view row, std::size_t line) {
  const auto cells = pieces_of(row, ',');
  if (cells.size() != names_.size())
    return fault_at(line, "has " + std::to_string(cells.size()) + " values: write one for each of the " +
                              std::to_string(names_.size()) + " names in the first line");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto value = cell_of(cells[i], names_[i], line, i != argument_);
    if (!value) return value.error();
    std::vector<double>& column = values_[i];
    if (i == argument_ && !column.empty() && *value <= column.back())
      return fault_at(line, "does not ascend in column " + names_[i] + ": sort the lines, each value once");
    column.push_back(i == argument_ || column.empty() ? *value : std::max(*value, column.back()));
  }
  return {};
}

bool OverheadTable::has(std::string_view column) const {
  return std::find(names_.begin(), names_.end(), column) != names_.end();
}

Duration OverheadTable::at(std::string_view column, double argument) const {
  const auto name = std::find(names_.begin(), names_.end(), column);
  if (name == names_.end()) return {};
  const auto index = static_cast<std::size_t>(name - names_.begin());
  const double microseconds = interpolated(values_[argument_], values_[index], argument);
  const double nanoseconds = std::min(microseconds, longest_microseconds) * 1e3;
  return Duration{static_cast<std::int64_t>(std::ceil(nanoseconds - rounding_error))};
}

Overheads overheads_of(const OverheadTable& table, std::size_t tasks) {
  const auto count = static_cast<double>(tasks);
  Overheads overheads;
  overheads.release = table.at("RELEASE", count);
  overheads.dispatch = table.at("SCHEDULE", count) + table.at("CXS", count);
  overheads.hop = table.at("IPI-LATENCY", count);
  return overheads;
}

void set_cache_delays(Overheads& overheads, const OverheadTable& table, double working_set) {
  const auto nearest =
      std::find_if(cache_levels.begin(), cache_levels.end(), [&](std::string_view level) { return table.has(level); });
  if (nearest == cache_levels.end()) return;
  overheads.preemption = table.at(*nearest, working_set);
  Duration longest{};
  for (const std::string_view level : cache_levels) longest = std::max(longest, table.at(level, working_set));
  overheads.migration = longest;
}

std::vector<std::string> unused_columns(const OverheadTable& table) {
  const bool is_cache = table.depends_on() == working_set_size;
  const std::span<const std::string_view> used = is_cache ? cache_levels : scheduling_columns;
  std::vector<std::string> unused;
  for (const std::string& column : table.columns())
    if (column != table.depends_on() && std::find(used.begin(), used.end(), column) == used.end())
      unused.push_back(column);
  return unused;
}

}  // namespace corelane::sim
