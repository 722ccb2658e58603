// The CSV files of np-schedulability-analysis (Nasri & Brandenburg 2017, https://github.com/brandenburg/
// np-schedulability-analysis): one line for each job of a hyperperiod. Times are whole numbers without a unit.
//
//   Task ID, Job ID, Arrival min, Arrival max, Cost min, Cost max, Deadline, Priority
//
// Jobs become tasks again if their arrivals are periodic. A smaller number of priority is more urgent.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "orb/base/contract.h"
#include "orb/core/text/toml_text.h"
#include "orb/eval/formats/formats.h"
#include "orb/eval/formats/left_out.h"
#include "orb/eval/scenario/checks.h"
#include "orb/sched/ticks.h"

namespace corelane::eval {
namespace {

using sched::multiply_up;
using sched::Ticks;

constexpr std::array<std::string_view, 8> job_columns{"Task ID",  "Job ID",   "Arrival min", "Arrival max",
                                                      "Cost min", "Cost max", "Deadline",    "Priority"};
constexpr std::int64_t most_jobs = 1'000'000;

// A line of the file, in units of time.
struct JobLine {
  std::uint32_t line = 0;  // its number in the file
  std::int64_t task = 0, earliest = 0, latest = 0, least_cost = 0, most_cost = 0, deadline = 0;
};

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string_view> cells_of_line(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = std::min(line.find(','), line.size());
    cells.push_back(without_blanks(line.substr(0, comma)));
    if (comma == line.size()) return cells;
    line.remove_prefix(comma + 1);
  }
}

bool is_same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

// Reads the lines of a file until the first fault.
class JobLines {
 public:
  JobLines(std::string_view text, const std::string& path) : path_(path) {
    std::uint32_t number = 0;
    while (!text.empty() && !fault_) {  // bound: the text
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      if (++number > 1 && !without_blanks(line).empty()) read(line, number);
    }
  }

  const std::vector<JobLine>& jobs() const { return jobs_; }
  const std::optional<ScenarioFault>& fault() const { return fault_; }

 private:
  void fail(std::uint32_t line, const std::string& text) {
    if (!fault_) fault_ = ScenarioFault{core::text_of(path_, {.line = line}) + text};
  }

  void read(std::string_view line, std::uint32_t number) {
    const std::vector<std::string_view> cells = cells_of_line(line);
    if (cells.size() < job_columns.size() - 1)
      return fail(number, "it has " + std::to_string(cells.size()) + " values; a job has at least 7");
    std::array<std::int64_t, 7> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto [end, fault] = std::from_chars(cells[i].data(), cells[i].data() + cells[i].size(), values[i]);
      if (fault != std::errc{} || end != cells[i].data() + cells[i].size() || values[i] < 0)
        return fail(number, std::string(job_columns[i]) + " = " + std::string(cells[i]) + " is not a whole number");
    }
    const auto [task, job, earliest, latest, least_cost, most_cost, deadline] = values;
    if (latest < earliest || most_cost < least_cost || deadline < earliest)
      return fail(number, "a maximum is less than its minimum, or the deadline comes before the arrival; swap them");
    jobs_.push_back({number, task, earliest, latest, least_cost, most_cost, deadline});
  }

  const std::string& path_;
  std::vector<JobLine> jobs_;
  std::optional<ScenarioFault> fault_;
};

// Makes tasks of the jobs, until the first fault.
class TasksOfJobs {
 public:
  TasksOfJobs(const std::string& path, Duration tick) : path_(path), tick_(tick) {}

  Expected<Scenario, ScenarioFault> read(const std::vector<JobLine>& jobs) {
    std::map<std::int64_t, std::vector<JobLine>> tasks;
    for (const JobLine& job : jobs) tasks[job.task].push_back(job);
    if (tasks.empty()) return ScenarioFault{path_ + ": it has no job; add a line for each job"};
    for (auto& [task, list] : tasks) {
      std::ranges::sort(list, {}, &JobLine::earliest);
      if (list.size() > 1)
        hyperperiod_ =
            std::max(hyperperiod_, multiply_up(list[1].earliest - list[0].earliest, static_cast<Ticks>(list.size())));
    }
    for (const auto& [task, list] : tasks) add(task, list);
    if (fault_) return *fault_;
    Platform& platform = scenario_.platform;
    platform.budget = platform.blocking = platform.jitter = Duration::zero();
    platform.capacity = unity;
    scenario_.notes.push_back("the priorities are left out; the server's order is that of D - J");
    return std::move(scenario_);
  }

 private:
  void fail(const JobLine& job, const std::string& text) {
    if (!fault_)
      fault_ =
          ScenarioFault{core::text_of(path_, {.line = job.line}) + "task " + std::to_string(job.task) + ": " + text};
  }

  Duration time(Ticks units) const { return Duration{multiply_up(units, tick_.count())}; }

  void add(std::int64_t number, const std::vector<JobLine>& jobs) {
    const JobLine& first = jobs.front();
    const Ticks period = jobs.size() > 1 ? jobs[1].earliest - first.earliest : hyperperiod_;
    if (period == 0)
      return fail(first, jobs.size() > 1 ? "two of its jobs arrive at once; a scenario has periodic tasks only"
                                         : "it has one job, so nothing says its period; add the jobs of a hyperperiod");
    check_jobs(jobs, period);
    ListedTask task{.label = "task-" + std::to_string(number),
                    .period = time(period),
                    .budget = {},
                    .deadline = time(first.deadline - first.earliest),
                    .jitter = time(first.latest - first.earliest),
                    .offset = time(first.earliest)};
    add_costs(jobs, task);
    if (fault_) return;
    if (const auto bad = fault_of_task(task)) return fail(first, *bad);
    scenario_.tasks.push_back(std::move(task));
  }

  void check_jobs(const std::vector<JobLine>& jobs, Ticks period) {
    const JobLine& first = jobs.front();
    for (std::size_t i = 1; i < jobs.size(); ++i) {
      const Ticks shift = jobs[i].earliest - first.earliest;
      if (shift != multiply_up(static_cast<Ticks>(i), period))
        return fail(jobs[i], "its jobs are not a fixed period apart; a scenario has periodic tasks only");
      if (jobs[i].latest - first.latest != shift || jobs[i].deadline - first.deadline != shift)
        return fail(jobs[i], "this job has another jitter or deadline than the first one; make them alike");
    }
  }

  // Sets the budget, and how long the jobs execute. Exact costs that differ are a trace.
  void add_costs(const std::vector<JobLine>& jobs, ListedTask& task) {
    Ticks least = jobs.front().least_cost, most = 0;
    bool are_alike = true, are_exact = true;
    for (const JobLine& job : jobs) {
      least = std::min(least, job.least_cost);
      most = std::max(most, job.most_cost);
      are_alike = are_alike && job.least_cost == jobs.front().least_cost && job.most_cost == jobs.front().most_cost;
      are_exact = are_exact && job.least_cost == job.most_cost;
    }
    task.budget = time(most);
    if (!are_exact)
      task.execution_min = part_of_cost(least, most);
    else if (!are_alike)
      for (const JobLine& job : jobs) task.execution_trace.push_back(time(job.most_cost));
    if (!are_exact && !are_alike)
      scenario_.notes.push_back(task.label + " has jobs with different ranges of cost; each gets the widest range");
  }

  static Fraction part_of_cost(Ticks part, Ticks whole) {
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(sched::Wide{part} * unity.millionths / whole))};
  }

  const std::string& path_;
  const Duration tick_;
  Ticks hyperperiod_ = 0;  // which the jobs of a task cover
  Scenario scenario_;
  std::optional<ScenarioFault> fault_;
};

Expected<Scenario, ScenarioFault> read_jobs(std::string_view text, const std::string& path,
                                            const FormatOptions& options) {
  const JobLines lines(text, path);
  if (lines.fault()) return *lines.fault();
  return TasksOfJobs(path, options.tick).read(lines.jobs());
}

// Writes the jobs of a hyperperiod.
class JobWriter {
 public:
  JobWriter(const Scenario& scenario, Duration tick) : tasks_(scenario.tasks), tick_(tick) {}

  Expected<WrittenScenario, ScenarioFault> write(const Scenario& scenario) {
    const Duration hyperperiod = hyperperiod_of_all();
    if (fault_) return *fault_;
    left_out_.add_what_only_toml_has(scenario);
    if (!scenario.chains.empty()) left_out_.say("the chains are left out");
    std::string text;
    for (const std::string_view column : job_columns) text += (text.empty() ? "" : ", ") + std::string(column);
    text += "\n";
    const std::vector<std::size_t> priorities = priorities_of_all();
    for (std::size_t i = 0; i < tasks_.size(); ++i) text += lines_of(i, priorities[i], hyperperiod);
    if (fault_) return *fault_;
    left_out_.say("a unit of time is " + to_string(tick_) + ", and the jobs are those of " + to_string(hyperperiod));
    return WrittenScenario{.text = std::move(text), .notes = left_out_.notes()};
  }

 private:
  void fail(const std::string& text) {
    if (!fault_) fault_ = ScenarioFault{text};
  }

  // Counts the jobs, too, because the least common multiple of periods may be huge.
  Duration hyperperiod_of_all() {
    std::int64_t hyperperiod = 1, jobs = 0;
    for (const ListedTask& task : tasks_) {
      const std::int64_t period = task.period.count();
      hyperperiod = multiply_up(hyperperiod, period / std::gcd(hyperperiod, period));
      if (hyperperiod == sched::endless) break;
    }
    for (const ListedTask& task : tasks_) jobs = sched::add_up(jobs, hyperperiod / task.period.count());
    if (hyperperiod == sched::endless || jobs > most_jobs)
      fail("the hyperperiod of these tasks has more than " + std::to_string(most_jobs) +
           " jobs; choose periods with a small common multiple, such as a period_list");
    return Duration{hyperperiod};
  }

  // Returns numbers in the server's order: the least D - J has number 1.
  std::vector<std::size_t> priorities_of_all() const {
    std::vector<std::pair<Duration, std::size_t>> order;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const Contract contract = contract_of(tasks_[i]);
      order.emplace_back(contract.deadline - contract.jitter, i);
    }
    std::ranges::sort(order);
    std::vector<std::size_t> priorities(tasks_.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) priorities[order[rank].second] = rank + 1;
    return priorities;
  }

  std::string lines_of(std::size_t index, std::size_t priority, Duration hyperperiod) {
    const ListedTask& task = tasks_[index];
    const Contract contract = contract_of(task);
    const Execution execution = execution_of(task);
    left_out_.add_what_only_toml_has(task);
    if (contract.suspension > Duration::zero()) left_out_.add("suspension");
    if (uses_resources(contract)) left_out_.add("use of resources");
    const std::vector<Duration>& trace = execution.trace;
    std::string text;
    for (std::int64_t job = 0; job < hyperperiod / contract.period && !fault_; ++job) {
      const Duration arrival = task.offset + job * contract.period;
      const auto turn = static_cast<std::size_t>(job);
      const Duration least = trace.empty() ? part_of(task.budget, execution.least) : trace[turn % trace.size()];
      const Duration most = trace.empty() ? part_of(task.budget, execution.most) : trace[turn % trace.size()];
      for (const std::int64_t value :
           {static_cast<std::int64_t>(index) + 1, ++jobs_, units(arrival, task), units(arrival + contract.jitter, task),
            units(least, task), units(most, task), units(arrival + contract.deadline, task)})
        text += std::to_string(value) + ", ";
      text += std::to_string(priority) + "\n";
    }
    return text;
  }

  std::int64_t units(Duration duration, const ListedTask& task) {
    if (duration % tick_ != Duration::zero())
      fail("task \"" + task.label + "\": " + to_string(duration) + " is not a multiple of the unit " +
           to_string(tick_) + "; say --tick 1ns");
    return duration / tick_;
  }

  const std::vector<ListedTask>& tasks_;
  const Duration tick_;
  std::int64_t jobs_ = 0;  // written so far; each has a number of its own
  LeftOut left_out_;
  std::optional<ScenarioFault> fault_;
};

Expected<WrittenScenario, ScenarioFault> write_jobs(const Scenario& scenario, const FormatOptions& options) {
  return JobWriter(scenario, options.tick).write(scenario);
}

// The first line has the names of the columns.
bool looks_like_jobs(std::string_view text) {
  const std::vector<std::string_view> cells = cells_of_line(text.substr(0, text.find('\n')));
  return cells.size() >= 7 && std::equal(cells.begin(), cells.begin() + 7, job_columns.begin(), is_same_word);
}

}  // namespace

namespace formats {

extern const ScenarioFormat jobs{.name = "jobs",
                                 .ending = ".csv",
                                 .help = "CSV of np-schedulability-analysis, with a line for each job of a hyperperiod",
                                 .longest = 256 << 20,
                                 .fits = looks_like_jobs,
                                 .read = read_jobs,
                                 .write = write_jobs};

}  // namespace formats
}  // namespace corelane::eval
