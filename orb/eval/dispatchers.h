// Dispatcher is a way in which a server brings jobs to the cores. An experiment runs the same tasks under several
// dispatchers and compares them. The names are those of Zhang, Gill & Lu, RTCSA 2009: MC-ORB, MC-ORB without rejection
// (MC-ORB*), and the leader/followers ORB to which they compare it.
//
// Threads: constants.
#pragma once

#include <cstdint>
#include <string_view>

#include "orb/base/registry.h"
#include "orb/dispatch/executive.h"

namespace corelane::eval {

// Where the jobs of a task run.
enum class TaskPlacement : std::uint8_t {
  by_manager,   // on the core that the Manager chooses
  any_core,     // on each core in turn, as the kernel moves the threads: global fixed priorities
  round_robin,  // task i of n on core i modulo the number of cores, whatever it needs
  first_core,   // all tasks on the first core
  allocated,    // each task on the least loaded core when it comes; the thread that reads a job moves there
};

struct Dispatcher {
  std::string_view name;
  std::string_view help;  // behind the name and a colon
  dispatch::DispatchMode mode = dispatch::DispatchMode::manager;
  TaskPlacement placement = TaskPlacement::by_manager;
  bool refuses = false;  // true: the scenario's admission test decides; false: every task is admitted
};

// Returns the settings of a server that works as the dispatcher says. A dispatcher that refuses no task has no
// admission test and puts each task on the least loaded core, whatever policy.allocation says.
dispatch::ExecutiveOptions server_under(const Dispatcher& dispatcher, dispatch::ExecutiveOptions server);

// The first is the default.
Registry<Dispatcher> dispatchers() noexcept;

}  // namespace corelane::eval
