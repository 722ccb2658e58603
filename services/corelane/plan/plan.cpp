#include "services/corelane/plan/plan.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>
#include <utility>

#include "orb/core/config/contracts_file.h"
#include "orb/core/config/settings_of.h"
#include "orb/core/skeleton.h"
#include "orb/eval/host_card/host_card.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/scenario_formats.h"
#include "orb/eval/task_set.h"
#include "orb/sched/refusal.h"
#include "services/corelane/output/text.h"
#include "services/corelane/plan/host_cores.h"
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

// Returns why the overheads are useless: one that each job is charged with is missing, or one cannot be true. "": they
// can be charged.
std::string flaw_of(const eval::HostOverheads& overheads) {
  constexpr Duration most = std::chrono::seconds{1};
  if (overheads.hop == Duration::zero()) return "has no cost of a hop";
  if (overheads.context_switch == Duration::zero()) return "has no cost of a context switch";
  const Duration worst = std::max({overheads.wake_up, overheads.hop, overheads.context_switch});
  return worst > most ? "has a cost of " + to_string(worst) + ", more than " + to_string(most) : std::string();
}

// Returns the overheads of the card that the options name; nothing if they name none. Writes a note to `err` if another
// host was measured.
Expected<std::optional<eval::HostOverheads>, Fault> overheads_for(const PlanOptions& options, std::ostream& err) {
  if (options.overheads.empty()) return std::optional<eval::HostOverheads>();
  const bool is_own = options.overheads == "host-card";
  const std::string path = is_own ? eval::host_card_path() : options.overheads;
  if (path.empty())
    return Fault{
        "neither XDG_STATE_HOME nor HOME is an absolute path; say --overheads FILE, with the file of a host card"};
  const auto card = is_own ? eval::card_of_this_host(path) : eval::read_host_card(path);
  if (!card) return Fault{card.error().text};
  const auto overheads =
      eval::overheads_of(*card, options.worst_overheads ? eval::CostCharge::max : eval::CostCharge::p99);
  if (!overheads)
    return Fault{path +
                 " has no wake-up of a real-time thread; measure again with the right to SCHED_FIFO (corelane doctor "
                 "--for tasks says how to get it)"};
  if (const std::string flaw = flaw_of(*overheads); !flaw.empty())
    return Fault{path + " " + flaw + "; measure again: corelane doctor --measure"};
  if (const std::string difference = eval::difference_from_this_host(*card); !difference.empty())
    err << "corelane plan: note: " << plain(path + " was measured " + difference) << "\n";
  return overheads;
}

// Adds the overheads to each budget, and to the platform's blocking.
Expected<void, Fault> charge(const eval::HostOverheads& overheads, std::vector<eval::Task>& tasks,
                             dispatch::ExecutiveOptions& server) {
  server.platform.blocking = std::max(server.platform.blocking, overheads.wake_up);
  for (eval::Task& task : tasks) {
    task.contract.budget += overheads.per_job();
    if (task.contract.budget + task.contract.suspension > task.contract.deadline)
      return Fault{task.label + " cannot meet its deadline of " + to_string(task.contract.deadline) +
                   ": its budget is " + to_string(task.contract.budget) + " with the overheads of each job, " +
                   to_string(overheads.per_job()) + "; give it a longer deadline"};
  }
  return {};
}

// Takes the overheads out of the proposed budgets. They are charged again when the proposal is planned.
void uncharge(const eval::HostOverheads& overheads, eval::Plan& plan) {
  for (eval::TaskVerdict& verdict : plan.tasks) {
    sched::Nearest& nearest = verdict.refusal.nearest;
    if (!nearest.found()) continue;
    nearest.budget -= overheads.per_job();
    Duration least{1};  // a budget may not be shorter than a section
    for (const ResourceUse& use : verdict.task.contract.uses) least = std::max(least, use.longest);
    if (nearest.budget >= least) continue;
    nearest = {};
    verdict.refusal.unproposed = sched::Unproposed::nothing_fits;
  }
}

// Planner fills in sets, with the settings that a server would have here.
class Planner {
 public:
  Planner(const PlanOptions& options, const dispatch::ExecutiveOptions& server,
          const std::optional<eval::HostOverheads>& overheads, std::size_t sets)
      : options_(options), server_(server), overheads_(overheads), is_one_(sets == 1) {}

  Expected<PlannedSet, Fault> plan(OpenSet set) const {
    const auto defaults = defaults_for(set.scenario.platform);
    if (!defaults) return defaults.error();
    const bool is_small = options_.thorough || set.tasks.size() <= few_tasks;
    auto request = eval::plan_request(set.scenario, std::move(set.tasks), *defaults);
    if (!request) return Fault{request.error().text};
    if (overheads_)
      if (const auto charged = charge(*overheads_, request->tasks, request->server); !charged) return charged.error();
    set.planned.server = request->server;
    set.planned.overheads = overheads_;
    request->sensitivity = !options_.quick && is_one_ && is_small;
    request->fewest = !options_.quick;
    if (const auto bad = eval::fault_of(*request)) return Fault{options_.file + ": " + *bad};
    set.planned.plan = eval::plan(*request);
    if (overheads_) uncharge(*overheads_, set.planned.plan);
    return std::move(set.planned);
  }

 private:
  // Changes the platform to what the options say.
  Expected<eval::RunDefaults, Fault> defaults_for(eval::Platform& platform) const {
    if (options_.like_this_host) platform = {};
    if (options_.cores) platform.cores = *options_.cores;
    eval::RunDefaults defaults{.server = server_};
    if (platform.cores > 0) return defaults;
    auto cores = host_cores(server_);
    if (!cores) return Fault{cores.error()};
    defaults.cores = *std::move(cores);
    return defaults;
  }

  const PlanOptions& options_;
  const dispatch::ExecutiveOptions& server_;
  const std::optional<eval::HostOverheads>& overheads_;
  const bool is_one_;
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
  const Planner planner(options, settings->executive, *overheads, open->size());
  std::vector<PlannedSet> sets;
  for (OpenSet& set : *open) {
    auto planned = planner.plan(std::move(set));
    if (!planned) return complain(planned.error(), err);
    sets.push_back(*std::move(planned));
  }
  out << text_of(sets, options.format);
  return std::ranges::all_of(sets, [](const PlannedSet& set) { return eval::holds(set.plan); }) ? 0 : 1;
}

}  // namespace corelane::tool
