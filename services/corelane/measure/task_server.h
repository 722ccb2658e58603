// Functions that read the counter pages of a runtime directory, for a command that has admitted a task at a server.
// Threads: none of its own; reads files, and waits for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/counter_page.h"

namespace corelane::tool {

struct SoughtTask {
  TaskId task;
  std::string operation{};
  Contract contract{};  // as admitted
  int pid = 0;          // its server; 0: not known
};

// Returns the page of the server that has the task, once the page shows the task's thread. A server that has tasks
// writes its page twice a second. In the mode leader-followers no task has a thread. Returns nothing if no page shows
// the task within `patience`, or more than one does.
std::optional<dispatch::ProcessCounters> page_with(const std::string& directory, const SoughtTask& sought,
                                                   Duration patience);

// Returns what the page says of the task; without a label, a core and a thread if the page does not have it.
dispatch::TaskCounters task_in(const dispatch::ProcessCounters& page, TaskId task);

// Returns the terms that the server itself gives to an operation, by its IDL or its contracts file. It need not have
// admitted a task with them. Each once; objects of the interface may have different ones.
std::vector<Contract> own_terms(const dispatch::ProcessCounters& page, const std::string& label);

}  // namespace corelane::tool
