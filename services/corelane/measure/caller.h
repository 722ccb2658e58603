// call() makes a number of calls of one operation of a live object, so that its server records them. The calls are jobs
// of a task of their own. The operation's IDL is not needed: the arguments are given with their types, and the results
// are ignored.
//
// Threads: the caller's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "services/corelane/trace/trace_source.h"

namespace corelane::tool {

struct CallPlan {
  std::string reference{};               // empty: no calls
  std::string operation{};               // as in the IDL; for an attribute it is _get_name
  std::vector<std::string> arguments{};  // "double:1.5", "string:calm"; in the IDL's order, only in and inout arguments
  int calls = 200;
  Contract contract{};                 // the contract to ask for
  std::vector<std::string> options{};  // -ORB options with their values
};

// Returns the types that an argument may have, for help and messages.
std::string argument_types();

// What is known of a task while it exists.
struct CalledTask {
  TaskId task;
  Contract contract{};        // as admitted: a server may handle overruns more strictly than it was asked to
  std::string repository_id;  // of the object, from its reference
  int answered = 0;           // calls that ended without an exception
  int raised = 0;             // calls that ended with an exception of the operation
};

// Callbacks during a call(). `before` and `after` return false to end it, after they wrote a complaint.
struct CallSteps {
  std::function<bool(const CalledTask&)> before;  // the task is admitted, and no call has been made
  std::function<bool(const CalledTask&)> after;   // all calls are over
  std::function<bool()> is_to_stop{};             // is asked before each call, and ends the calls; empty: never
};

// Admits the task and makes the calls. Calls `steps` while the task exists. Returns false after a complaint: the object
// does not answer, the task is refused, or an argument does not fit.
bool call(const CallPlan& plan, const CallSteps& steps, const Complaints& complaints);

}  // namespace corelane::tool
