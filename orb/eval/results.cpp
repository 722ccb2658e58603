#include "orb/eval/results.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <optional>
#include <span>
#include <system_error>

#include "orb/base/registry.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/experiment/csv.h"
#include "orb/sched/share.h"
#include "orb/sched/ticks.h"

namespace corelane::eval {
namespace {

constexpr std::string_view origin_columns[] = {"experiment", "scenario", "mode", "machine",
                                               "kernel",     "version",  "seed", "cell"};
constexpr std::string_view result_columns[] = {
    "set",        "dispatcher",  "allocation",           "test",           "order",     "tasks",
    "admitted",   "utilization", "admitted_utilization", "jobs",           "misses",    "host_misses",
    "late_tasks", "overruns",    "worst_of_deadline",    "worst_of_bound", "trace_hash"};

constexpr std::int64_t most_sets = 10'000'000;    // repetitions, and what the precision adds
constexpr std::uint64_t most_in_set = 1'000'000;  // of a set

Fraction utilization_of_task(const Task& task) {
  return {sched::ppm_of(sched::share_of(task.contract.budget.count(), task.contract.period.count()))};
}

// Returns the quotient, rounded up; `divisor` > 0.
Fraction quotient(Duration value, Duration divisor) {
  const sched::Wide millionths =
      (sched::Wide{value.count()} * unity.millionths + divisor.count() - 1) / divisor.count();
  return {static_cast<std::int64_t>(std::min<sched::Wide>(millionths, INT64_MAX))};
}

std::string hexadecimal_of(std::uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

template <typename Whole>
bool read_number(const std::string& text, Whole& out, int base = 10) {
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, out, base);
  return fault == std::errc{} && stop == end;
}

// Reads what decimal() writes.
bool read_fraction(const std::string& text, Fraction& out) {
  const std::size_t point = text.find('.');
  std::string digits = point == text.npos ? "" : text.substr(point + 1);
  if (digits.size() > 6) return false;
  digits.resize(6, '0');
  std::int64_t whole = 0, millionths = 0;
  if (!read_number(text.substr(0, point), whole) || !read_number(digits, millionths)) return false;
  return whole >= 0 && millionths >= 0 && !__builtin_mul_overflow(whole, unity.millionths, &whole) &&
         !__builtin_add_overflow(whole, millionths, &out.millionths);
}

// ResultReader reads lines of a table with known columns.
class ResultReader {
 public:
  explicit ResultReader(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  // Returns the first column that the table lacks; "" if it has all.
  std::string missing() const {
    using Names = std::span<const std::string_view>;
    for (const Names known : {Names(origin_columns), Names(result_columns)})
      for (const std::string_view name : known)
        if (std::ranges::find(columns_, name) == columns_.end()) return std::string(name);
    return {};
  }

  bool take(std::vector<std::string> fields) {
    fields_ = std::move(fields);
    return fields_.size() == columns_.size();
  }

  const std::string& field(std::string_view name) const {
    return fields_[static_cast<std::size_t>(std::ranges::find(columns_, name) - columns_.begin())];
  }

  std::optional<SetResult> result() const {
    SetResult r{.dispatcher = field("dispatcher"),
                .policies = {.allocation = field("allocation"), .test = field("test"), .order = field("order")}};
    const bool is_good = read_number(field("cell"), r.cell) && read_number(field("set"), r.set) &&
                         read_number(field("tasks"), r.tasks) && read_number(field("admitted"), r.admitted) &&
                         read_fraction(field("utilization"), r.utilization) &&
                         read_fraction(field("admitted_utilization"), r.admitted_utilization) &&
                         read_number(field("jobs"), r.jobs) && read_number(field("misses"), r.misses) &&
                         read_number(field("host_misses"), r.host_misses) &&
                         read_number(field("late_tasks"), r.late_tasks) && read_number(field("overruns"), r.overruns) &&
                         read_fraction(field("worst_of_deadline"), r.worst_of_deadline) &&
                         read_number(field("trace_hash"), r.trace_hash, 16);
    if (!is_good) return std::nullopt;
    if (field("worst_of_bound").empty()) return r;
    if (!read_fraction(field("worst_of_bound"), r.worst_of_bound.emplace())) return std::nullopt;
    return r;
  }

 private:
  std::vector<std::string> columns_;
  std::vector<std::string> fields_{};
};

// Returns what of the values cannot come from a run, such as "more misses than jobs"; "" if they can.
std::string impossible_in(const SetResult& result, std::size_t cells) {
  if (result.cell >= cells) return "cell " + std::to_string(result.cell) + ", which this experiment does not have";
  if (result.set < 0 || result.set >= most_sets) return "set " + std::to_string(result.set) + ", which is out of range";
  if (find_named(dispatchers(), result.dispatcher) == nullptr) return "an unknown dispatcher";
  if (result.tasks > most_in_set) return "more than " + std::to_string(most_in_set) + " tasks";
  if (result.admitted > result.tasks) return "more admitted tasks than tasks";
  if (result.late_tasks > result.admitted) return "more late tasks than admitted ones";
  if (result.misses > result.jobs) return "more misses than jobs";
  return {};
}

// Takes the next line with its end from the text; nothing if there is no whole line.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

// Returns whether the text without any line end can be what a run has written when it was killed: the begin of a
// header, and zero bytes after a loss of power.
bool is_cut_header(std::string_view text) {
  const std::size_t zeros = text.find('\0');
  if (zeros != text.npos && text.find_first_not_of('\0', zeros) != text.npos) return false;
  text = text.substr(0, zeros);
  std::string begin = csv_line(std::vector<std::string>(std::begin(origin_columns), std::end(origin_columns)));
  begin.back() = ',';  // the columns of the sweeps and of the results follow
  return text.starts_with(begin) || begin.starts_with(text);
}

}  // namespace

SetResult summed_up(const RunRequest& request, const RunOutcome& outcome) {
  SetResult result{.dispatcher = std::string(request.dispatcher->name), .trace_hash = outcome.trace_hash};
  result.host_misses =
      static_cast<std::uint64_t>(std::ranges::count(outcome.misses, MissCause::host, &JobRecord::cause));
  for (std::size_t i = 0; i < outcome.tasks.size(); ++i) {
    const TaskOutcome& task = outcome.tasks[i];
    const Fraction utilization = utilization_of_task(request.tasks[i]);
    ++result.tasks;
    result.utilization.millionths += utilization.millionths;
    if (!task.admitted) continue;
    ++result.admitted;
    result.admitted_utilization.millionths += utilization.millionths;
    result.jobs += task.jobs;
    result.misses += task.misses;
    if (task.misses > 0) ++result.late_tasks;
    result.overruns += task.overruns;
    result.worst_of_deadline =
        std::max(result.worst_of_deadline, quotient(task.worst, request.tasks[i].contract.deadline));
    if (task.bound > Duration::zero())
      result.worst_of_bound = std::max(result.worst_of_bound.value_or(Fraction{}), quotient(task.worst, task.bound));
  }
  return result;
}

std::string fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
  return hexadecimal_of(hash);
}

std::string results_header(const SweptValues& swept) {
  std::vector<std::string> columns(std::begin(origin_columns), std::end(origin_columns));
  for (const auto& [field, value] : swept) columns.push_back(field);
  columns.insert(columns.end(), std::begin(result_columns), std::end(result_columns));
  return csv_line(columns);
}

std::string results_line(const ResultsOrigin& origin, const SweptValues& swept, const SetResult& r) {
  std::vector<std::string> fields{
      origin.experiment,           origin.scenario,       origin.mode, origin.machine, origin.kernel, origin.version,
      std::to_string(origin.seed), std::to_string(r.cell)};
  for (const auto& [field, value] : swept) fields.push_back(value);
  for (const std::string& field :
       {std::to_string(r.set), r.dispatcher, r.policies.allocation, r.policies.test, r.policies.order,
        std::to_string(r.tasks), std::to_string(r.admitted), decimal(r.utilization), decimal(r.admitted_utilization),
        std::to_string(r.jobs), std::to_string(r.misses), std::to_string(r.host_misses), std::to_string(r.late_tasks),
        std::to_string(r.overruns), decimal(r.worst_of_deadline), r.worst_of_bound ? decimal(*r.worst_of_bound) : "",
        hexadecimal_of(r.trace_hash)})
    fields.push_back(field);
  return csv_line(fields);
}

Expected<ParsedResults, ScenarioFault> parse_results(std::string_view text, const ResultsOrigin& origin,
                                                     std::size_t cells) {
  ParsedResults parsed;
  std::string_view rest = text;
  const auto header = take_line(rest);
  if (!header && !is_cut_header(text))
    return ScenarioFault{"it is no table of results; move it away, or name another file with --output"};
  if (!header) return parsed;
  ResultReader reader(csv_fields(*header));
  if (const std::string missing = reader.missing(); !missing.empty())
    return ScenarioFault{"it is no table of results, since it has no column " + missing +
                         "; move it away, or name another file with --output"};
  for (int line = 2; const auto next = take_line(rest); ++line) {
    const auto result = reader.take(csv_fields(*next)) ? reader.result() : std::nullopt;
    if (!result)
      return ScenarioFault{"line " + std::to_string(line) +
                           " is no result; remove it, or name another file with --output"};
    if (reader.field("scenario") != origin.scenario)
      return ScenarioFault{
          "it has results of another scenario, of an earlier version of this file, or with another file in "
          "dispatch.slowdowns; move it away, or name another file with --output"};
    const std::string at = "line " + std::to_string(line) + " has ";
    if (reader.field("seed") != std::to_string(origin.seed))
      return ScenarioFault{at + "another seed than the scenario; remove it, or name another file with --output"};
    if (const std::string impossible = impossible_in(*result, cells); !impossible.empty())
      return ScenarioFault{at + impossible + "; remove it, or name another file with --output"};
    if (reader.field("mode") == origin.mode) parsed.results.push_back(*result);
  }
  parsed.whole_lines = text.size() - rest.size();
  return parsed;
}

}  // namespace corelane::eval
