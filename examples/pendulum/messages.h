// The messages between the demo's processes over their pipes: one JSON object a line.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ratio>
#include <string>
#include <vector>

#include "orb/base/time.h"

namespace corelane::pendulum {

// Times are in microseconds unless a comment says otherwise.
inline double microseconds(Duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

struct ServerReady {  // server -> conductor, once it serves
  std::string reference;
  std::vector<int> cores;                // the cores that it holds
  double capacity = 0;                   // sum over its cores of the utilization that may be admitted, or could be
  bool promises = true;                  // it admits only what it can guarantee
  std::string unpromising;               // if it does not: the setting that causes this
  std::string unnamed;                   // why it has no name at the nameserver; empty: it has one
  std::vector<std::int64_t> executions;  // ns; see longest_executions()
  int margin = 0;                        // %; see margin_here()
};

struct TaskRow {  // one task of the server's closing report
  std::uint64_t task = 0;
  std::string label;
  int core = -1;
  int priority = 0;
  std::uint64_t jobs = 0;
  std::uint64_t misses = 0;
  std::uint64_t excused = 0;      // misses that a recorded gap of the machine explains
  std::uint64_t for_budgets = 0;  // other misses that an exceeded budget of a job that runs before explains
  std::uint64_t overruns = 0;
  std::uint64_t excused_overruns = 0;
  double p50 = 0, p99 = 0, max = 0;  // response, from release to reply
  double bound = 0;                  // the computed bound of the response; 0: not analyzed
  double deadline = 0;
  double utilization = 0;
};

struct ServerReport {  // server -> conductor, at the end
  std::vector<TaskRow> tasks;
  std::uint64_t dropped_oneways = 0;
  std::uint64_t gaps = 0;  // stalls above 20 us that the program did not cause
  double longest_gap = 0;
  double total_gap = 0;
  std::uint64_t throttles = 0;  // times that the kernel stopped a core's real-time threads for their share
  double throttled = 0;         // total length of the throttles
  double observed = 0;          // time under observation, summed over the cores
};

struct ClientAnswer {  // client -> conductor, once it was admitted or refused
  bool admitted = false;
  std::uint64_t task = 0;
  std::string reason;  // why it was refused
  std::string way{};   // the transport of its calls, and why this one
};

struct ClientReport {  // client -> conductor, at the end
  bool stands = false;
  double fell_after = 0;   // when it fell, s
  double worst_angle = 0;  // rad
  std::uint64_t calls = 0;
  std::uint64_t late = 0;    // replies after the deadline, as the client measured them
  std::uint64_t failed = 0;  // calls that ended in a system exception
  double p50 = 0, p99 = 0, max = 0;
  std::string trouble;  // the last exception, if any
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerReady, reference, cores, capacity, promises, unpromising, unnamed, executions,
                                   margin)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TaskRow, task, label, core, priority, jobs, misses, excused, for_budgets, overruns,
                                   excused_overruns, p50, p99, max, bound, deadline, utilization)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerReport, tasks, dropped_oneways, gaps, longest_gap, total_gap, throttles,
                                   throttled, observed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClientAnswer, admitted, task, reason, way)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClientReport, stands, fell_after, worst_angle, calls, late, failed, p50, p99, max,
                                   trouble)

template <typename Message>
std::string line_of(const Message& message) {
  return nlohmann::json(message).dump() + "\n";
}

template <typename Message>
Message message_of(const std::string& line) {
  return nlohmann::json::parse(line).get<Message>();
}

}  // namespace corelane::pendulum
