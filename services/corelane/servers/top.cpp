#include "services/corelane/servers/top.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <thread>
#include <utility>

#include "orb/base/contract.h"
#include "orb/base/text/counted.h"
#include "orb/dispatch/leases/cross_process_analysis.h"
#include "orb/os/clock.h"
#include "orb/sched/refusal.h"
#include "orb/sched/share.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {

using dispatch::CoreCounters;
using dispatch::Guarantee;
using dispatch::LedgerHolder;
using dispatch::ProcessCounters;
using dispatch::RefusedAdmission;
using dispatch::TaskCounters;

namespace {

double percent(std::int64_t ppm) { return static_cast<double>(ppm) / 10'000; }

// Returns a dash for a number that does not exist or is not measured.
std::string number_or_dash(std::uint64_t number, bool known) { return known ? std::to_string(number) : "-"; }

// Without a core, jobs are not watched while they run; see Guarantee.
bool is_watched(const ProcessCounters& process) { return process.conditions.guarantee != Guarantee::priorities; }

// Adds the owner to the label of a client's task, because tasks of other clients have the same label.
std::string owned_label(const std::string& label, PeerId owner, const std::string& holder = {}) {
  if (owner == PeerId{}) return label;
  return label + " of peer " + std::to_string(owner.value) + (holder.empty() ? "" : " (" + holder + ")");
}

// What one address, or one user, holds of the cores with its tasks.
struct Holding {
  std::int64_t share = 0;  // parts per million of a core
  std::uint64_t tasks = 0;
  Time used{};  // the latest call
};

std::map<std::string, Holding> holdings_of(const ProcessCounters& process) {
  std::map<std::string, Holding> holdings;
  for (const TaskCounters& task : process.tasks) {
    if (task.holder.empty()) continue;
    Holding& holding = holdings[task.holder];
    holding.share += sched::ppm_of(sched::share_of(task.contract.budget.count(), task.contract.period.count()));
    holding.used = std::max(holding.used, task.used);
    ++holding.tasks;
  }
  return holdings;
}

std::string line_of(const std::string& holder, const Holding& holding, Time now) {
  return format("  %s holds %.1f %% of a core with %s, last call noticed %s ago\n", plain(holder).c_str(),
                percent(holding.share), counted(holding.tasks, "task").c_str(),
                brief(std::max(now - holding.used, Duration::zero())).c_str());
}

std::string table_of(const TaskCounters& task, bool watched) {
  const bool placed = task.core != no_core, bounded = task.bound > Duration::zero();
  return format(
             "  %-8llu %4s %4s %9s %9s %9s %9llu %7llu %8llu %10s %7s %8s %9s %9s %9s  ",
             static_cast<unsigned long long>(task.task.value), placed ? std::to_string(task.core.value).c_str() : "-",
             placed || task.native > 0 ? std::to_string(task.native).c_str() : "-", brief(task.contract.period).c_str(),
             brief(task.contract.deadline).c_str(), brief(task.contract.budget).c_str(),
             static_cast<unsigned long long>(task.jobs), static_cast<unsigned long long>(task.misses),
             static_cast<unsigned long long>(task.overruns), number_or_dash(task.oversleeps, watched).c_str(),
             number_or_dash(task.blocks, watched).c_str(), number_or_dash(task.refused, watched).c_str(),
             brief(task.p99).c_str(), brief(task.max).c_str(), bounded ? brief(task.bound).c_str() : "-") +
         plain(owned_label(task.label, task.owner, task.holder)) + "\n";
}

std::string table_of(const RefusedAdmission& refused, Time now) {
  return format("  %7llu %9s %9s %9s %9s  ", static_cast<unsigned long long>(refused.times),
                brief(std::max(now - refused.asked, Duration::zero())).c_str(), brief(refused.contract.period).c_str(),
                brief(refused.contract.deadline).c_str(), brief(refused.contract.budget).c_str()) +
         plain(owned_label(refused.label, refused.owner) + ": " + sched::text_of(refused.why)) + "\n";
}

// Servers write twice a second, or without tasks when they are asked, on a thread that may have to wait for others.
constexpr Duration fresh = std::chrono::seconds{3};

std::string age_text(Duration age) {
  if (age < fresh) return {};
  return "  these numbers are " + brief(age) + " old: the process is stopped, or its housekeeping gets no time\n";
}

// Returns the physical core, which the ledger has in each promise on the core. A core without a promise has the number
// of its first hardware thread, which is the one that servers use.
int physical_core(CoreId core, const Picture& picture) {
  for (const LedgerHolder& holder : picture.holders)
    for (const dispatch::Promise& promise : holder.promises)
      if (promise.core == core) return promise.physical_core;
  return core.value;
}

// What other servers hold of a core, which this one may not promise: their tasks, and what they run above tasks.
struct Others {
  std::int64_t all = 0, platform = 0;
};
Others others_on(CoreId core, const ProcessCounters& process, const Picture& picture) {
  const dispatch::CoreLease lease{.core = core, .physical_core = physical_core(core, picture)};
  Others sum;
  for (const LedgerHolder& holder : picture.holders) {
    if (holder.pid == process.pid) continue;
    sum.all += dispatch::promised_on(lease, holder.promises);
    sum.platform += dispatch::platform_on(lease, holder.promises);
  }
  return sum;
}

// Returns what this server runs above its tasks there, from the ledger; 0 if the ledger does not have it.
std::int64_t platform_on(CoreId core, const ProcessCounters& process, const Picture& picture) {
  const dispatch::CoreLease lease{.core = core, .physical_core = physical_core(core, picture)};
  std::int64_t sum = 0;
  for (const LedgerHolder& holder : picture.holders)
    if (holder.pid == process.pid) sum += dispatch::platform_on(lease, holder.promises);
  return sum;
}

bool has_page(const LedgerHolder& holder, const Picture& picture) {
  return std::ranges::find(picture.processes, holder.pid, &ProcessCounters::pid) != picture.processes.end();
}

// Returns parts per million of each core.
std::map<CoreId, std::int64_t> shares_of(const LedgerHolder& holder) {
  std::map<CoreId, std::int64_t> shares;
  for (const dispatch::Promise& promise : holder.promises)
    shares[promise.core] +=
        dispatch::promised_on({.core = promise.core, .physical_core = promise.physical_core}, std::span(&promise, 1));
  return shares;
}

std::string table_of(const LedgerHolder& holder) {
  std::string text =
      "process " + std::to_string(holder.pid) + ": shows nothing that this user and this version may read";
  const char* before = ", but holds ";
  for (const auto& [core, share] : shares_of(holder)) {
    text += format("%s%.1f %% of core %d", before, percent(share), core.value);
    before = ", ";
  }
  return text + "\n";
}

nlohmann::ordered_json json_of(const LedgerHolder& holder) {
  nlohmann::ordered_json json{{"program", nullptr}, {"pid", holder.pid}, {"cores", nlohmann::ordered_json::array()}};
  for (const auto& [core, share] : shares_of(holder))
    json["cores"].push_back({{"core", core.value}, {"promised_ppm", share}});
  return json;
}

const char* order_text(sched::CoreOrder order) {
  if (order == sched::CoreOrder::served) return ", by deadlines (SCHED_DEADLINE)";
  return order == sched::CoreOrder::deadline ? ", by deadlines" : "";
}

const char* order_name(sched::CoreOrder order) {
  if (order == sched::CoreOrder::served) return "kernel-deadline";
  return order == sched::CoreOrder::deadline ? "deadline" : "priority";
}

// A refusal lists the same parts; see sched::text_of().
std::string line_of(const CoreCounters& core, std::int64_t platform, const Others& others) {
  std::string text = format("  core %-3d %5.1f %% of %.1f %% admitted", core.core.value, percent(core.admitted),
                            percent(core.capacity));
  if (platform > 0) text += format(", platform load %.1f %%", percent(platform));
  text += ", " + counted(core.tasks, "task") + order_text(core.order);
  if (others.all > 0)
    text += format("; other servers hold %.1f %%: tasks %.1f %%, platform load %.1f %%", percent(others.all),
                   percent(others.all - others.platform), percent(others.platform));
  return text + "\n";
}

// Returns whether the server takes tasks: limits.tasks may forbid it, as for the nameserver.
bool takes_tasks(const ProcessCounters& process) {
  return !process.cores.empty() || process.conditions.guarantee == Guarantee::priorities;
}

std::string guarantee_text(Guarantee guarantee) {
  if (guarantee == Guarantee::priorities)
    return "  dispatch.mode leader-followers: contracts are not analyzed, and no deadline is promised; jobs run "
           "wherever they come in\n";
  if (guarantee == Guarantee::placement)
    return "  dispatch.admission off: contracts are not analysed; tasks have cores and priorities, and no promise\n";
  return {};
}

// Describes what differs from the defaults with all privileges.
std::string standing_text(const ProcessCounters& process) {
  if (!takes_tasks(process)) return "  limits.tasks 0: it takes no tasks, and so no part of a core\n";
  const dispatch::PromiseConditions& conditions = process.conditions;
  std::string text = guarantee_text(conditions.guarantee);
  if (conditions.direct) text += "  dispatch.mode direct: tasks of clients read connections of their own\n";
  const bool has_bounds = conditions.guarantee == Guarantee::bounds;
  if (!conditions.real_time)
    text += std::string("  without SCHED_FIFO: every program of this machine may delay it") +
            (has_bounds ? ", and bounds hold on an idle one at best\n" : "\n");
  if (has_bounds && !conditions.guarded)
    text += "  runtime.ledger off: other servers of this host may promise the same cores\n";
  return text;
}

const char* mode_name(const dispatch::PromiseConditions& conditions) {
  if (conditions.guarantee == Guarantee::priorities) return "leader-followers";
  return conditions.direct ? "direct" : "manager";
}

std::string table_of(const ProcessCounters& process, const Picture& picture, Time now) {
  std::string text = plain(process.program) + " " + std::to_string(process.pid) + ": admitted " +
                     std::to_string(process.admitted) + ", refused " + std::to_string(process.refused) +
                     ", jobs refused " + std::to_string(process.jobs_refused) + ", queue full " +
                     std::to_string(process.queue_full) + ", best effort " + std::to_string(process.best_effort_jobs) +
                     "\n" + age_text(now - process.written);
  text += standing_text(process);
  for (const CoreCounters& core : process.cores)
    text += line_of(core, platform_on(core.core, process, picture), others_on(core.core, process, picture));
  for (const auto& [holder, holding] : holdings_of(process)) text += line_of(holder, holding, now);
  if (!process.tasks.empty())
    text +=
        "  task     core prio         T         D         C      jobs  misses overruns oversleeps  blocks"
        "  refused       p99       max     bound\n";
  for (const TaskCounters& task : process.tasks) text += table_of(task, is_watched(process));
  if (!process.refusals.empty()) text += "  refused  last ago         T         D         C\n";
  for (const RefusedAdmission& refused : process.refusals) text += table_of(refused, now);
  return text;
}

// Returns null for a number that is not measured.
nlohmann::ordered_json json_of(std::uint64_t number, bool known) {
  return known ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
}

nlohmann::ordered_json json_of(const TaskCounters& task, bool watched) {
  return {{"task", task.task.value},
          {"label", task.label},
          {"owner", task.owner.value},
          {"holder", task.holder},
          {"used_ns", task.used.time_since_epoch().count()},
          {"core", task.core.value},
          {"native_priority", task.native},
          {"period_ns", task.contract.period.count()},
          {"deadline_ns", task.contract.deadline.count()},
          {"budget_ns", task.contract.budget.count()},
          {"jitter_ns", task.contract.jitter.count()},
          {"suspension_ns", task.contract.suspension.count()},
          {"bound_ns", task.bound.count()},
          {"jobs", task.jobs},
          {"misses", task.misses},
          {"overruns", task.overruns},
          {"oversleeps", json_of(task.oversleeps, watched)},
          {"blocks", json_of(task.blocks, watched)},
          {"jobs_refused", json_of(task.refused, watched)},
          {"response_p50_ns", task.p50.count()},
          {"response_p99_ns", task.p99.count()},
          {"response_max_ns", task.max.count()}};
}

nlohmann::ordered_json json_of(const RefusedAdmission& refused) {
  return {{"label", refused.label},
          {"owner", refused.owner.value},
          {"times", refused.times},
          {"asked_ns", refused.asked.time_since_epoch().count()},
          {"period_ns", refused.contract.period.count()},
          {"deadline_ns", refused.contract.deadline.count()},
          {"budget_ns", refused.contract.budget.count()},
          {"jitter_ns", refused.contract.jitter.count()},
          {"suspension_ns", refused.contract.suspension.count()},
          {"code", sched::name_of(refused.why.code)},
          {"why", sched::text_of(refused.why)}};
}

nlohmann::ordered_json json_of(const ProcessCounters& process, const Picture& picture) {
  nlohmann::ordered_json json{{"program", process.program},
                              {"pid", process.pid},
                              {"written_ns", process.written.time_since_epoch().count()},
                              {"promises", process.conditions.guarantee == Guarantee::bounds && takes_tasks(process)},
                              {"mode", mode_name(process.conditions)},
                              {"real_time", process.conditions.real_time},
                              {"guarded", process.conditions.guarded},
                              {"admitted", process.admitted},
                              {"refused", process.refused},
                              {"jobs_refused", process.jobs_refused},
                              {"queue_full", process.queue_full},
                              {"best_effort_jobs", process.best_effort_jobs},
                              {"cores", nlohmann::ordered_json::array()},
                              {"tasks", nlohmann::ordered_json::array()},
                              {"refusals", nlohmann::ordered_json::array()}};
  for (const CoreCounters& core : process.cores) {
    nlohmann::ordered_json others, others_platform, platform;
    if (picture.fault.empty()) {
      const Others found = others_on(core.core, process, picture);
      others = found.all, others_platform = found.platform, platform = platform_on(core.core, process, picture);
    }
    json["cores"].push_back({{"core", core.core.value},
                             {"capacity_ppm", core.capacity},
                             {"admitted_ppm", core.admitted},
                             {"platform_ppm", platform},
                             {"others_ppm", others},
                             {"others_platform_ppm", others_platform},
                             {"tasks", core.tasks},
                             {"order", order_name(core.order)}});
  }
  for (const TaskCounters& task : process.tasks) json["tasks"].push_back(json_of(task, is_watched(process)));
  for (const RefusedAdmission& refused : process.refusals) json["refusals"].push_back(json_of(refused));
  return json;
}

std::string fault_text(const Picture& picture) {
  if (picture.fault.empty()) return {};
  return "the promises of other servers are not known: " + plain(picture.fault) + "\n";
}

}  // namespace

std::string text_of(const Picture& picture, Format shown_as, Time now) {
  std::vector<LedgerHolder> others = picture.holders;
  std::erase_if(others, [&](const LedgerHolder& holder) { return has_page(holder, picture); });
  for (const int pid : picture.closed)
    if (std::ranges::find(others, pid, &LedgerHolder::pid) == others.end()) others.push_back({pid, {}});
  if (shown_as == Format::json) {
    auto json = nlohmann::ordered_json::array();
    for (const ProcessCounters& process : picture.processes) json.push_back(json_of(process, picture));
    for (const LedgerHolder& holder : others) json.push_back(json_of(holder));
    return json_lines(json);
  }
  std::string text, without_tasks;  // servers such as the nameserver come last
  for (const ProcessCounters& process : picture.processes)
    (takes_tasks(process) ? text : without_tasks) += table_of(process, picture, now);
  text += without_tasks;
  for (const LedgerHolder& holder : others) text += table_of(holder);
  if (text.empty()) text = "no Corelane server runs with runtime.directory " + plain(picture.directory) + "\n";
  return text + fault_text(picture);
}

bool await_pages(const std::string& directory, Time begin, Duration patience) {
  dispatch::ask_for_pages(directory);
  const auto is_old = [&](const ProcessCounters& page) { return page.written < begin; };
  while (std::ranges::any_of(dispatch::read_pages(directory), is_old)) {  // bound: the patience
    if (os::now() >= begin + patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  return true;
}

int top_once(const std::string& directory, Format format, KnownDirectories& known, std::ostream& out,
             std::ostream& err) {
  if (::access(directory.c_str(), R_OK | X_OK) != 0 && errno != ENOENT) {
    err << "corelane top: " << plain(directory) << ": " << std::strerror(errno)
        << "; servers of other users have their own\n"
        << elsewhere_text(directory, known.at(os::now()));
    return 1;
  }
  dispatch::remove_stale_pages(directory);
  Picture picture{.directory = directory, .processes = dispatch::read_pages(directory)};
  picture.closed = closed_servers(directory);
  if (auto holders = dispatch::LedgerFile::look(dispatch::ledger::path_in(directory)))
    picture.holders = std::move(*holders);
  else
    picture.fault = holders.error().text;
  out << text_of(picture, format, os::now());
  if (format == Format::table) out << elsewhere_text(directory, known.at(os::now()));
  if (format == Format::json && !picture.fault.empty()) err << "corelane top: " << fault_text(picture);
  return 0;
}

}  // namespace corelane::tool
