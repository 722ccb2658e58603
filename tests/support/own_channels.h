// Admits tasks whose calls have their own channels, at a server in the mode `direct`, where their threads receive from
// them.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include "orb/core/client/reference.h"
#include "orb/core/client/task_binding.h"
#include "orb/rt/rt.h"
#include "tests/support/probe.h"

namespace corelane::testing {

// With these times no call is early. For servers whose admission is off.
inline constexpr Contract no_wait{
    .period = Duration{1}, .deadline = Duration{5}, .budget = Duration{1}, .jitter = Duration{3}};

// Admits one task of add() and one of echo(). Calls of these operations use the tasks' own channels, all other calls
// the shared one. Throws if the server grants no own channel.
inline std::vector<rt::Task> tasks_with_own_channels(const CORBA::object_reference<Probing::Probe>& probe) {
  std::vector<rt::Task> tasks;
  for (const char* operation : {"add", "echo"}) {
    auto task = rt::admit(probe, {.operation = operation, .contract = no_wait});
    if (!task) throw std::runtime_error("not admitted: " + task.error().text);
    tasks.push_back(std::move(*task));
    const auto binding = probe->_reference()->binding_of(operation);
    if (binding->connection() == binding->connection(true))
      throw std::runtime_error("the task has no channel of its own");
  }
  return tasks;
}

}  // namespace corelane::testing
