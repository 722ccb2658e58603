// Calls one operation of a live object so often, as the jobs of a task of its own, for what its server then records.
// The operation needs no IDL here: its arguments are given with their types, its results are not looked at.
// Threads: the caller's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "services/corelane/trace_source.h"

namespace corelane::tool {

struct CallPlan {
  std::string reference{};               // empty: no calls
  std::string operation{};               // as in the IDL; an attribute's is _get_name
  std::vector<std::string> arguments{};  // "double:1.5", "string:calm"; in the IDL's order, in and inout alone
  int calls = 200;
  Contract contract{};                 // to be admitted with
  std::vector<std::string> options{};  // -ORB options with their values
};

// The types that an argument may have, for help and messages.
std::string argument_types();

// What is known of a task that lives.
struct CalledTask {
  TaskId task;
  Contract contract{};        // as it was admitted: a server may be stricter about overruns than it was asked to be
  std::string repository_id;  // of the object, as its reference says
  int answered = 0;           // calls that ended without an exception
  int raised = 0;             // those that ended with one of the operation's own
};

// Either returns false to end it: it has complained.
struct CallSteps {
  std::function<bool(const CalledTask&)> before;  // the task is admitted, and nothing called yet
  std::function<bool(const CalledTask&)> after;   // all calls are over
};

// Admits the task and makes the calls, with `steps` while the task lives. False when it complained: the object does not
// answer, the task is refused, an argument does not fit.
bool call(const CallPlan& plan, const CallSteps& steps, const Complaints& complaints);

}  // namespace corelane::tool
