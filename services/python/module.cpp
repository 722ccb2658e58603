// The compiled half of the Python package `corelane`. The other half, services/python/corelane/__init__.py, makes data
// frames of the tables that these functions return. docs/python.md describes both.
//
// Threads: the functions release Python's lock (GIL) while they compute.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/registry.h"
#include "orb/base/time.h"
#include "orb/core/text/toml_text.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/plan.h"
#include "orb/eval/results.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/virtual_run.h"
#include "orb/os/clock.h"
#include "services/corelane/evaluate/origin.h"
#include "services/corelane/evaluate/set_runner.h"
#include "services/python/policies.h"
#include "services/python/tables.h"

namespace corelane::python {
namespace {

namespace py = pybind11;

constexpr std::int64_t most_cores = 1024;  // as in a scenario

// What is wrong with a scenario or with an argument. In Python it is corelane.ScenarioError.
class ScenarioError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The text of a scenario, and how messages name it.
struct ScenarioText {
  std::string text;
  std::string name;
};

// What a caller may give beside the scenario.
struct Choices {
  std::vector<std::int16_t> cores{};  // of the host, for scenarios that do not say how many
  std::optional<std::int64_t> core_count{};
  py::object allocation{}, test{};
};

std::string read_scenario(const std::string& path) {
  auto text = core::read_toml("scenario", path);
  if (!text) throw ScenarioError(text.error().text);
  return *std::move(text);
}

void check_cores(std::optional<std::int64_t> count) {
  if (!count || (*count > 0 && *count <= most_cores)) return;
  throw ScenarioError("cores = " + std::to_string(*count) + " is no number of cores; write one from 1 to " +
                      std::to_string(most_cores) + ", or leave cores out");
}

void check_length(std::optional<std::int64_t> length_ns) {
  if (length_ns.value_or(1) > 0) return;
  throw ScenarioError("length_ns = " + std::to_string(*length_ns) +
                      " is no length of a run; write one above 0, in nanoseconds, or leave length_ns out");
}

std::vector<eval::Cell> cells_of(const ScenarioText& source, const Choices& choices) {
  if (const auto fault = core::nesting_fault_of(source.text, source.name)) throw ScenarioError(fault->text);
  auto cells = eval::parse_scenario(source.text, source.name);
  if (!cells) throw ScenarioError(cells.error().text);
  check_cores(choices.core_count);
  if (choices.core_count)
    for (eval::Cell& cell : *cells) cell.scenario.platform.cores = *choices.core_count;
  return *std::move(cells);
}

eval::RunDefaults defaults_of(const Choices& choices, const std::optional<eval::CustomPolicies>& policies) {
  eval::RunDefaults defaults{.custom = policies ? &*policies : nullptr};
  for (const std::int16_t core : choices.cores) defaults.cores.push_back(CoreId{core});
  return defaults;
}

[[noreturn]] void raise_fault(const ScenarioText& source, const std::string& fault) {
  throw ScenarioError(source.name + ": " + fault);
}

PlannedTasks planned_tasks(const ScenarioText& source, const eval::Cell& cell, std::int64_t set,
                           const eval::RunDefaults& defaults, bool sensitivity) {
  auto tasks = eval::tasks_of(cell.scenario, set);
  if (!tasks) raise_fault(source, tasks.error().text);
  auto request = eval::plan_request(cell.scenario, *std::move(tasks), defaults);
  if (!request) raise_fault(source, request.error().text);
  request->sensitivity = request->fewest = sensitivity;
  if (const auto fault = eval::fault_of(*request)) raise_fault(source, *fault);
  return {.swept = cell.swept, .set = set, .plan = eval::plan(*request)};
}

py::dict plan_scenario(const ScenarioText& source, const Choices& choices, bool sensitivity) {
  const auto policies = policies_of(choices.allocation, choices.test);
  const eval::RunDefaults defaults = defaults_of(choices, policies);
  std::vector<PlannedTasks> planned;
  {
    const py::gil_scoped_release unlocked;
    for (const eval::Cell& cell : cells_of(source, choices))
      for (std::int64_t set = 0; set < cell.scenario.repetitions; ++set)
        planned.push_back(planned_tasks(source, cell, set, defaults, sensitivity));
  }
  return tables_of(planned);
}

// Returns the scenario of set number `set`, counted from 1 over all combinations as by `corelane simulate --set`, and
// the set's number in it, from 0. A scenario with sweeps has no first set that would be meant without a number.
std::pair<eval::Scenario, std::int64_t> chosen_set(const ScenarioText& source, std::vector<eval::Cell> cells,
                                                   std::optional<std::int64_t> set) {
  std::int64_t sets = 0;
  for (const eval::Cell& cell : cells) sets += cell.scenario.repetitions;
  if (!set && cells.size() > 1)
    raise_fault(source, "it has sweeps, which are many sets of tasks; choose one with set, from 1 to " +
                            std::to_string(sets) + ", or use sweep()");
  const std::int64_t number = set.value_or(1);
  std::int64_t before = 0;
  for (eval::Cell& cell : cells) {
    if (number > before && number - before <= cell.scenario.repetitions)
      return {std::move(cell.scenario), number - before - 1};
    before += cell.scenario.repetitions;
  }
  raise_fault(source, "set = " + std::to_string(number) + " is none of its sets; choose one from 1 to " +
                          std::to_string(sets) + ", or raise repetitions");
}

const eval::Dispatcher* dispatcher_named(const std::string& name) {
  if (const eval::Dispatcher* const dispatcher = find_named(eval::dispatchers(), name)) return dispatcher;
  std::string names;
  for (const eval::Dispatcher* const known : eval::dispatchers())
    names += (names.empty() ? "" : ", ") + std::string(known->name);
  throw ScenarioError("there is no dispatcher \"" + name + "\"; choose one of " + names);
}

// What may differ from the scenario in a single run.
struct RunChoices {
  std::string dispatcher{};           // empty: that of the scenario
  std::optional<std::int64_t> set{};  // from 1
  std::optional<std::int64_t> length_ns{};
  bool jobs = true;  // whether each job is noted
};

eval::RunRequest request_of(const ScenarioText& source, const Choices& choices, const RunChoices& run,
                            const eval::RunDefaults& defaults) {
  auto [scenario, set] = chosen_set(source, cells_of(source, choices), run.set);
  check_length(run.length_ns);
  if (run.length_ns) scenario.experiment.length = Duration{*run.length_ns};
  auto request = eval::run_request(scenario, set, defaults);
  if (!request) raise_fault(source, request.error().text);
  request->dispatcher =
      run.dispatcher.empty() ? eval::single_dispatcher_of(scenario, defaults) : dispatcher_named(run.dispatcher);
  if (const auto fault = eval::fault_of_length(*request)) raise_fault(source, fault->text);
  return *std::move(request);
}

// Stop asks Python now and then whether a signal has come, such as Ctrl-C. The thread that has made it asks, because
// Python runs handlers of signals on its main thread only. Python's lock may be long in coming, so this thread waits
// for it only a few times a second.
// Threads: is_asked() any.
class Stop {
 public:
  bool is_asked() {
    if (asked_.load(std::memory_order_relaxed)) return true;  // relaxed: only ends the work earlier
    if (std::this_thread::get_id() != owner_ || os::now() < next_) return false;
    next_ = os::now() + between_questions;
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() == 0) return false;
    fault_ = std::make_unique<py::error_already_set>();
    asked_.store(true, std::memory_order_relaxed);  // relaxed: raise() runs when all other threads have ended
    return true;
  }

  // Raises the exception of the signal's handler, if there is one.
  void raise() const {
    if (fault_) throw *fault_;
  }

 private:
  static constexpr Duration between_questions = std::chrono::milliseconds{50};

  const std::thread::id owner_ = std::this_thread::get_id();
  Time next_{};  // when the owner asks next
  std::atomic<bool> asked_{false};
  std::unique_ptr<py::error_already_set> fault_{};  // written once, by the owner
};

// Returns nothing if the run was stopped.
std::optional<eval::RunOutcome> run_until(Stop& stop, const eval::RunRequest& request, sim::JobObserver* observer) {
  return eval::run_virtually(request, observer, [&stop] { return stop.is_asked(); });
}

py::dict simulate_scenario(const ScenarioText& source, const Choices& choices, const RunChoices& run) {
  const auto policies = policies_of(choices.allocation, choices.test);
  const eval::RunDefaults defaults = defaults_of(choices, policies);
  eval::RunRequest request;
  eval::RunOutcome outcome;
  JobList jobs;
  Stop stop;
  {
    const py::gil_scoped_release unlocked;
    request = request_of(source, choices, run, defaults);
    auto ended = run_until(stop, request, run.jobs ? &jobs : nullptr);
    if (ended) outcome = *std::move(ended);
    eval::explain_refusals(request, outcome);
  }
  stop.raise();
  return tables_of(request, outcome, jobs);
}

std::vector<tool::OpenRun> open_runs(const eval::Scenario& scenario) {
  std::vector<tool::OpenRun> open;
  for (std::int64_t set = 0; set < scenario.repetitions; ++set)
    open.push_back({.set = set, .dispatchers = eval::dispatchers_of(scenario)});
  return open;
}

// Returns a table of results as `corelane eval` writes it.
std::string results_of(const ScenarioText& source, const std::vector<eval::Cell>& cells, const tool::SetRunner& runner,
                       Stop& stop) {
  const eval::Scenario& first = cells.front().scenario;
  if (const auto fault = eval::fault_of_swept(cells.front().swept)) raise_fault(source, fault->text);
  const eval::ResultsOrigin origin{.experiment = first.name,
                                   .scenario = eval::fingerprint(source.text),
                                   .mode = "virtual",
                                   .machine = tool::machine_text(),
                                   .kernel = tool::kernel_text(),
                                   .version = CORELANE_VERSION,
                                   .seed = first.seed};
  std::string table = eval::results_header(cells.front().swept);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const eval::Scenario& scenario = cells[cell].scenario;
    const auto results = runner.run(scenario, cell, open_runs(scenario), [&] { return stop.is_asked(); });
    if (!results) raise_fault(source, results.error());
    for (const eval::SetResult& result : *results) table += eval::results_line(origin, cells[cell].swept, result);
    stop.raise();
  }
  return table;
}

std::string sweep_scenario(const ScenarioText& source, const Choices& choices, int threads) {
  const eval::RunDefaults defaults = defaults_of(choices, std::nullopt);
  const std::size_t count = threads > 0 ? static_cast<std::size_t>(threads) : std::thread::hardware_concurrency();
  Stop stop;
  const auto run = [&stop](const eval::RunRequest& request) -> Expected<eval::RunOutcome, std::string> {
    auto outcome = run_until(stop, request, nullptr);
    if (!outcome) return std::string();
    return *std::move(outcome);
  };
  const tool::SetRunner runner(run, defaults, count, eval::longest_run);
  const py::gil_scoped_release unlocked;
  return results_of(source, cells_of(source, choices), runner, stop);
}

// Returns the version of Corelane and the names that scenarios may use.
std::vector<std::string> dispatcher_names_of() {
  std::vector<std::string> names;
  for (const eval::Dispatcher* const dispatcher : eval::dispatchers()) names.emplace_back(dispatcher->name);
  return names;
}

void define_functions(py::module_& module) {
  module.def("read", [](const std::string& path) { return py::bytes(read_scenario(path)); });
  module.def("dispatchers", &dispatcher_names_of);
  module.def(
      "plan", [](std::string text, std::string name, std::vector<std::int16_t> cores,
                 std::optional<std::int64_t> core_count, py::object allocation, py::object test, bool sensitivity) {
        return plan_scenario({std::move(text), std::move(name)},
                             {std::move(cores), core_count, std::move(allocation), std::move(test)}, sensitivity);
      });
  module.def("simulate",
             [](std::string text, std::string name, std::vector<std::int16_t> cores,
                std::optional<std::int64_t> core_count, py::object allocation, py::object test, std::string dispatcher,
                std::optional<std::int64_t> set, std::optional<std::int64_t> length_ns, bool jobs) {
               return simulate_scenario({std::move(text), std::move(name)},
                                        {std::move(cores), core_count, std::move(allocation), std::move(test)},
                                        {std::move(dispatcher), set, length_ns, jobs});
             });
  module.def("sweep", [](std::string text, std::string name, std::vector<std::int16_t> cores,
                         std::optional<std::int64_t> core_count, int threads) {
    return py::bytes(sweep_scenario({std::move(text), std::move(name)}, {std::move(cores), core_count}, threads));
  });
}

}  // namespace

PYBIND11_MODULE(_corelane, module) {
  module.attr("version") = CORELANE_VERSION;
  py::register_exception<ScenarioError>(module, "ScenarioError", PyExc_ValueError);
  define_policy_classes(module);
  define_functions(module);
}

}  // namespace corelane::python
