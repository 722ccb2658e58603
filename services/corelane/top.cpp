#include "services/corelane/top.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orb/base/contract.h"

namespace corelane::tool {

using dispatch::CoreCounters;
using dispatch::ProcessCounters;
using dispatch::TaskCounters;

namespace {

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

double percent(std::int64_t ppm) { return static_cast<double>(ppm) / 10'000; }

// In the largest unit that keeps three digits: "12.3us".
std::string brief(Duration duration) {
  const auto count = static_cast<double>(duration.count());
  if (count < 1e3) return format("%.0fns", count);
  if (count < 1e6) return format("%.1fus", count / 1e3);
  return count < 1e9 ? format("%.2fms", count / 1e6) : format("%.2fs", count / 1e9);
}

// Printable, so that a label cannot play with the terminal.
std::string plain(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

std::string table_of(const TaskCounters& task) {
  return format("  %-5llu %4d %4d %9s %9s %9s %9llu %7llu %8llu %9s %9s %9s  ",
                static_cast<unsigned long long>(task.task.value), task.core.value, task.native,
                brief(task.contract.period).c_str(), brief(task.contract.deadline).c_str(),
                brief(task.contract.budget).c_str(), static_cast<unsigned long long>(task.jobs),
                static_cast<unsigned long long>(task.misses), static_cast<unsigned long long>(task.overruns),
                brief(task.p99).c_str(), brief(task.max).c_str(), brief(task.bound).c_str()) +
         plain(task.label) + "\n";
}

std::string table_of(const ProcessCounters& process) {
  std::string text = plain(process.program) + " " + std::to_string(process.pid) + ": admitted " +
                     std::to_string(process.admitted) + ", refused " + std::to_string(process.refused) +
                     ", jobs refused " + std::to_string(process.jobs_refused) + ", best effort " +
                     std::to_string(process.best_effort_jobs) + "\n";
  for (const CoreCounters& core : process.cores)
    text += format("  core %-3d %5.1f %% of %.1f %% admitted, %llu tasks\n", core.core.value, percent(core.admitted),
                   percent(core.capacity), static_cast<unsigned long long>(core.tasks));
  if (process.tasks.empty()) return text;
  text += "  task  core prio         T         D         C      jobs  misses overruns       p99       max     bound\n";
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
          {"response_p50_ns", task.p50.count()},
          {"response_p99_ns", task.p99.count()},
          {"response_max_ns", task.max.count()}};
}

nlohmann::ordered_json json_of(const ProcessCounters& process) {
  nlohmann::ordered_json json{{"program", process.program},
                              {"pid", process.pid},
                              {"written_ns", process.written.time_since_epoch().count()},
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
                             {"tasks", core.tasks}});
  for (const TaskCounters& task : process.tasks) json["tasks"].push_back(json_of(task));
  return json;
}

}  // namespace

std::string text_of(const std::vector<ProcessCounters>& processes, TopFormat format) {
  if (format == TopFormat::json) {
    auto json = nlohmann::ordered_json::array();
    for (const ProcessCounters& process : processes) json.push_back(json_of(process));
    // A label may hold any bytes; what is not UTF-8 is replaced.
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  std::string text;
  for (const ProcessCounters& process : processes) text += table_of(process);
  return text.empty() ? "no Corelane server runs here\n" : text;
}

int top_once(const std::string& directory, TopFormat format, std::ostream& out, std::ostream& err) {
  if (::access(directory.c_str(), R_OK | X_OK) != 0 && errno != ENOENT) {
    err << "corelane top: " << directory << ": " << std::strerror(errno) << "; servers of other users have their own\n";
    return 1;
  }
  out << text_of(dispatch::read_pages(directory), format);
  return 0;
}

}  // namespace corelane::tool
