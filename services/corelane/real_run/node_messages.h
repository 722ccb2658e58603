// The messages between a real run and the processes that it starts (node/roles.h): JSON, one object in a line. Times
// are in ns, and instants are those of the host's monotonic clock.
//
// Threads: values and pure functions. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "services/corelane/real_run/planned_job.h"

namespace corelane::tool {

struct ServeOrder {       // run -> server, first
  std::size_t tasks = 0;  // so many objects
  std::size_t jobs = 0;   // of all tasks together; the server keeps records of so many
};

struct ServerReady {  // server -> run, once it serves
  std::vector<std::string> references;
  std::vector<std::string> missing;  // privileges that the system does not grant, a line for each; os::missing()
  bool real_time = false;            // it may run threads under SCHED_FIFO
};

// One job, as its servant saw it. In JSON it is a list of the numbers, in this order.
struct JobRow {
  std::int64_t task = 0;         // index of its object
  std::int64_t number = 0;       // of the task's jobs, from 0
  std::int64_t sent = 0;         // when its client sent the call
  std::int64_t release = 0;      // when the server read it, or the later instant from which the contract let it run
  std::int64_t begin = 0;        // first instruction of the servant
  std::int64_t end = 0;          // last instruction of the servant
  std::int64_t core = -1;        // where it ended
  std::int64_t execution = 0;    // what it computed, as it takes undisturbed
  std::int64_t gaps = 0;         // pieces of time that the machine took; see rt::WorkReport, unswitched_gaps
  std::int64_t longest_gap = 0;  // the longest of them

  friend bool operator==(const JobRow&, const JobRow&) = default;
};

struct ServedTask {  // of a ServerReport
  std::uint64_t task = 0;
  int core = -1;           // -1: it has none of its own
  int priority = 0;        // higher runs first
  std::int64_t bound = 0;  // 0: nothing is promised
};

struct ServerReport {  // server -> run, after "stop"
  std::vector<ServedTask> tasks;
  std::vector<JobRow> jobs;
  std::uint64_t dropped = 0;  // records of jobs for which there was no room
};

struct AdmitOrder {  // run -> client
  std::string reference;
  std::int64_t period = 0, deadline = 0, budget = 0, jitter = 0;
  int importance = 0;
  int on_overrun = 0;  // OverrunPolicy
  int intensity = 0;
};

struct AdmitAnswer {  // client -> run
  bool admitted = false;
  std::uint64_t task = 0;
  std::string refusal;  // why it was refused
};

struct RunOrder {                             // run -> client
  std::int64_t start = 0;                     // of the run, in all processes
  std::vector<std::vector<PlannedJob>> jobs;  // by the client's AdmitOrders; none for a refused task
};

struct ClientReport {        // client -> run, after its last call
  std::uint64_t failed = 0;  // calls that ended with an exception
  std::string trouble;       // the text of the last one
  bool real_time = false;    // its threads had SCHED_FIFO
};

struct WatchOrder {  // run -> watcher, first
  std::vector<int> cores;
  std::int64_t length = 0;
};

struct WatchReport {         // watcher -> run, at its end
  std::int64_t watched = 0;  // time, of all cores together
  std::uint64_t gaps = 0;    // as of JobRow
};

// Suspensions and locks of the contract are left out: jobs of a real run have none.
AdmitOrder order_of(const Contract& contract, std::string reference);
Contract contract_of(const AdmitOrder& order);

void to_json(nlohmann::json& out, const JobRow& row);
void from_json(const nlohmann::json& in, JobRow& row);
void to_json(nlohmann::json& out, const PlannedJob& job);
void from_json(const nlohmann::json& in, PlannedJob& job);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServeOrder, tasks, jobs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerReady, references, missing, real_time)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServedTask, task, core, priority, bound)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerReport, tasks, jobs, dropped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AdmitOrder, reference, period, deadline, budget, jitter, importance, on_overrun,
                                   intensity)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AdmitAnswer, admitted, task, refusal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunOrder, start, jobs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClientReport, failed, trouble, real_time)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WatchOrder, cores, length)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WatchReport, watched, gaps)

// Returns the message without a newline. A byte that is no UTF-8, as in the text of an exception, is replaced.
template <typename Message>
std::string line_of(const Message& message) {
  return nlohmann::json(message).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// What is wrong with a line that should be a message.
struct MessageFault {
  std::string text;
};

template <typename Message>
Expected<Message, MessageFault> message_of(const std::string& line) {
  try {
    return nlohmann::json::parse(line).get<Message>();
  } catch (const nlohmann::json::exception& fault) {
    return MessageFault{fault.what()};
  }
}

}  // namespace corelane::tool
