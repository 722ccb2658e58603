#include "services/corelane/plan/plan.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <ostream>
#include <utility>

#include "orb/core/config/settings_of.h"
#include "orb/core/contracts/contracts_file.h"
#include "orb/core/skeleton.h"
#include "orb/eval/measured_overheads.h"
#include "orb/eval/run_overheads.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/scenario_formats.h"
#include "orb/eval/task_set.h"
#include "orb/os/clock.h"
#include "services/corelane/output/text.h"
#include "services/corelane/plan/host_cores.h"
#include "services/corelane/plan/plan_progress.h"
#include "services/corelane/plan/planned_set.h"

namespace corelane::tool {
namespace {

constexpr int wrong_input = 2;
constexpr std::size_t few_tasks = 100;  // for which to look how much budgets may grow takes a moment

struct Fault {
  std::string text;
};

// A set of tasks, before it is planned.
struct OpenSet {
  eval::Scenario scenario{};
  std::vector<eval::Task> tasks{};
  PlannedSet planned{};
};

// Returns the tasks of a contracts file. Each operation is one task, as callers without a task of their own share it.
Expected<std::vector<OpenSet>, Fault> contracts_in(const std::string& text, const std::string& path) {
  const auto file = core::ContractsFile::parse(text, path);
  if (!file) return Fault{file.error().text};
  const auto operations = (*file)->tasks();
  if (!operations) return Fault{operations.error().text};
  if (operations->empty()) return Fault{path + ": it has no contract of an operation; add one, see docs/using.md"};
  std::vector<OpenSet> sets(1);
  for (const core::ContractsFile::Task& task : *operations)
    sets.front().tasks.push_back(
        {.label = core::label_of(task.repository_id, task.operation), .contract = task.contract, .offset = {}});
  return sets;
}

Expected<std::vector<OpenSet>, Fault> scenarios_in(const std::string& text, const std::string& path) {
  const auto cells = eval::parse_scenario(text, path);
  if (!cells) return Fault{cells.error().text};
  std::vector<OpenSet> sets;
  for (const eval::Cell& cell : *cells)
    for (std::int64_t set = 0; set < cell.scenario.repetitions; ++set) {
      auto tasks = eval::tasks_of(cell.scenario, set);
      if (!tasks) return Fault{path + ": " + tasks.error().text};
      OpenSet& open = sets.emplace_back();
      open.scenario = cell.scenario;
      open.tasks = *std::move(tasks);
      open.planned.swept = cell.swept;
      open.planned.set = cell.scenario.repetitions > 1 ? static_cast<int>(set) + 1 : 0;
    }
  return sets;
}

Expected<std::vector<OpenSet>, Fault> sets_in(const std::string& path) {
  const auto text = eval::read_scenario_file(path);
  if (!text) return Fault{text.error().text};
  return eval::is_contracts_file(*text) ? contracts_in(*text, path) : scenarios_in(*text, path);
}

// Returns the overheads that the options name; nothing if they name none. Writes a note to `err` if another host was
// measured.
Expected<std::optional<eval::MeasuredOverheads>, Fault> overheads_for(const PlanOptions& options, std::ostream& err) {
  if (options.overheads.empty()) return std::optional<eval::MeasuredOverheads>();
  auto measured =
      eval::read_overheads(options.overheads, options.worst_overheads ? eval::CostCharge::max : eval::CostCharge::p99);
  if (!measured) return Fault{measured.error().text};
  if (!measured->note.empty()) err << "corelane plan: note: " << plain(measured->note) << "\n";
  return std::optional<eval::MeasuredOverheads>(*std::move(measured));
}

// Planner fills in sets, with the settings that a server would have here.
class Planner {
 public:
  Planner(const PlanOptions& options, const dispatch::ExecutiveOptions& server,
          const std::optional<eval::MeasuredOverheads>& overheads, std::size_t sets,
          std::function<void(const eval::PlanProgress&)> tell)
      : options_(options), server_(server), overheads_(overheads), is_one_(sets == 1), tell_(std::move(tell)) {}

  Expected<PlannedSet, Fault> plan(OpenSet set) const {
    if (options_.like_this_host) set.scenario.platform = {};
    if (options_.cores) set.scenario.platform.cores = *options_.cores;
    if (overheads_) {
      set.scenario.overheads = {};
      set.scenario.overheads.measured = overheads_;
    }
    const auto defaults = defaults_for(set.scenario.platform);
    if (!defaults) return defaults.error();
    const bool is_small = options_.thorough || set.tasks.size() <= few_tasks;
    auto request = eval::plan_request(set.scenario, std::move(set.tasks), *defaults);
    if (!request) return Fault{request.error().text};
    eval::charge(request->overheads, request->server);
    set.planned.server = request->server;
    set.planned.overheads = request->overheads;
    request->sensitivity = !options_.quick && is_one_ && is_small;
    request->fewest = !options_.quick;
    request->tell = tell_;
    if (const auto bad = eval::fault_of(*request)) return Fault{options_.file + ": " + *bad};
    set.planned.plan = eval::plan(*request);
    return std::move(set.planned);
  }

 private:
  Expected<eval::RunDefaults, Fault> defaults_for(const eval::Platform& platform) const {
    eval::RunDefaults defaults{.server = server_};
    if (platform.cores > 0) return defaults;
    auto cores = host_cores(server_);
    if (!cores) return Fault{cores.error()};
    defaults.cores = *std::move(cores);
    return defaults;
  }

  const PlanOptions& options_;
  const dispatch::ExecutiveOptions& server_;
  const std::optional<eval::MeasuredOverheads>& overheads_;
  const bool is_one_;
  const std::function<void(const eval::PlanProgress&)> tell_;
};

int complain(const Fault& fault, std::ostream& err) {
  err << "corelane plan: " << plain(fault.text) << "\n";
  return wrong_input;
}

}  // namespace

int plan(const PlanOptions& options, std::ostream& out, std::ostream& err) {
  const auto settings = core::settings_of(options.orb_options);
  if (!settings) return complain({settings.error().text}, err);
  auto open = sets_in(options.file);
  if (!open) return complain(open.error(), err);
  const auto overheads = overheads_for(options, err);
  if (!overheads) return complain(overheads.error(), err);
  for (const std::string& note : open->front().scenario.notes) err << "corelane plan: note: " << plain(note) << "\n";
  PlanProgressLine progress(err, open->size(), os::now());
  std::function<void(const eval::PlanProgress&)> tell;
  if (options.shows_progress) tell = [&](const eval::PlanProgress& told) { progress.say(told, os::now()); };
  const Planner planner(options, settings->executive, *overheads, open->size(), std::move(tell));
  std::vector<PlannedSet> sets;
  for (OpenSet& set : *open) {
    progress.begin_set();
    auto planned = planner.plan(std::move(set));
    if (!planned) return complain(planned.error(), err);
    sets.push_back(*std::move(planned));
  }
  out << text_of(sets, options.format);
  return std::ranges::all_of(sets, [](const PlannedSet& set) { return eval::holds(set.plan); }) ? 0 : 1;
}

}  // namespace corelane::tool
