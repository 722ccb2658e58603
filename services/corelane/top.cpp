#include "services/corelane/top.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orb/base/contract.h"
#include "orb/os/clock.h"
#include "services/corelane/text.h"

namespace corelane::tool {

using dispatch::CoreCounters;
using dispatch::ProcessCounters;
using dispatch::TaskCounters;

namespace {

double percent(std::int64_t ppm) { return static_cast<double>(ppm) / 10'000; }

std::string table_of(const TaskCounters& task) {
  const bool placed = task.core != no_core, bounded = task.bound > Duration::zero();
  return format("  %-5llu %4s %4s %9s %9s %9s %9llu %7llu %8llu %7llu %9s %9s %9s  ",
                static_cast<unsigned long long>(task.task.value),
                placed ? std::to_string(task.core.value).c_str() : "-",
                placed ? std::to_string(task.native).c_str() : "-", brief(task.contract.period).c_str(),
                brief(task.contract.deadline).c_str(), brief(task.contract.budget).c_str(),
                static_cast<unsigned long long>(task.jobs), static_cast<unsigned long long>(task.misses),
                static_cast<unsigned long long>(task.overruns), static_cast<unsigned long long>(task.blocks),
                brief(task.p99).c_str(), brief(task.max).c_str(), bounded ? brief(task.bound).c_str() : "-") +
         plain(task.label) + "\n";
}

// Servers write twice a second, on a thread that may have to wait for others.
constexpr Duration fresh = std::chrono::seconds{3};

std::string age_text(Duration age) {
  if (age < fresh) return {};
  return "  these numbers are " + brief(age) + " old: the process is stopped, or its housekeeping gets no time\n";
}

// What the other servers' tasks hold of a core, which this one may not promise.
std::int64_t others_on(CoreId core, const ProcessCounters& process, const std::vector<ProcessCounters>& all) {
  std::int64_t sum = 0;
  for (const ProcessCounters& other : all)
    for (const CoreCounters& theirs : other.cores)
      if (&other != &process && theirs.core == core) sum += theirs.admitted;
  return sum;
}

std::string table_of(const ProcessCounters& process, const std::vector<ProcessCounters>& all, Time now) {
  std::string text = plain(process.program) + " " + std::to_string(process.pid) + ": admitted " +
                     std::to_string(process.admitted) + ", refused " + std::to_string(process.refused) +
                     ", jobs refused " + std::to_string(process.jobs_refused) + ", best effort " +
                     std::to_string(process.best_effort_jobs) + "\n" + age_text(now - process.written);
  if (!process.promises)
    text +=
        "  dispatch.mode leader-followers: everybody is admitted, nothing is promised, jobs run wherever they come "
        "in\n";
  for (const CoreCounters& core : process.cores)
    text += format("  core %-3d %5.1f %% of %.1f %% admitted, other servers %.1f %%, %llu tasks%s\n", core.core.value,
                   percent(core.admitted), percent(core.capacity), percent(others_on(core.core, process, all)),
                   static_cast<unsigned long long>(core.tasks),
                   core.order == sched::CoreOrder::deadline ? ", by deadlines" : "");
  if (process.tasks.empty()) return text;
  text +=
      "  task  core prio         T         D         C      jobs  misses overruns  blocks       p99       max     "
      "bound\n";
  for (const TaskCounters& task : process.tasks) text += table_of(task);
  return text;
}

nlohmann::ordered_json json_of(const TaskCounters& task) {
  return {{"task", task.task.value},
          {"label", task.label},
          {"owner", task.owner.value},
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
          {"blocks", task.blocks},
          {"response_p50_ns", task.p50.count()},
          {"response_p99_ns", task.p99.count()},
          {"response_max_ns", task.max.count()}};
}

nlohmann::ordered_json json_of(const ProcessCounters& process, const std::vector<ProcessCounters>& all) {
  nlohmann::ordered_json json{{"program", process.program},
                              {"pid", process.pid},
                              {"written_ns", process.written.time_since_epoch().count()},
                              {"promises", process.promises},
                              {"admitted", process.admitted},
                              {"refused", process.refused},
                              {"jobs_refused", process.jobs_refused},
                              {"best_effort_jobs", process.best_effort_jobs},
                              {"cores", nlohmann::ordered_json::array()},
                              {"tasks", nlohmann::ordered_json::array()}};
  for (const CoreCounters& core : process.cores)
    json["cores"].push_back({{"core", core.core.value},
                             {"capacity_ppm", core.capacity},
                             {"admitted_ppm", core.admitted},
                             {"others_ppm", others_on(core.core, process, all)},
                             {"tasks", core.tasks},
                             {"order", core.order == sched::CoreOrder::deadline ? "deadline" : "priority"}});
  for (const TaskCounters& task : process.tasks) json["tasks"].push_back(json_of(task));
  return json;
}

}  // namespace

std::string text_of(const std::vector<ProcessCounters>& processes, Format shown_as, Time now) {
  if (shown_as == Format::json) {
    auto json = nlohmann::ordered_json::array();
    for (const ProcessCounters& process : processes) json.push_back(json_of(process, processes));
    // A label may hold any bytes; what is not UTF-8 is replaced.
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  std::string text;
  for (const ProcessCounters& process : processes) text += table_of(process, processes, now);
  return text.empty() ? "no Corelane server runs here\n" : text;
}

int top_once(const std::string& directory, Format format, std::ostream& out, std::ostream& err) {
  if (::access(directory.c_str(), R_OK | X_OK) != 0 && errno != ENOENT) {
    err << "corelane top: " << directory << ": " << std::strerror(errno) << "; servers of other users have their own\n";
    return 1;
  }
  dispatch::remove_stale_pages(directory);
  out << text_of(dispatch::read_pages(directory), format, os::now());
  return 0;
}

}  // namespace corelane::tool
