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

// Returns the page of the server that has the task. A server that has tasks writes its page twice a second. Returns
// nothing if no page shows the task within `patience`, or more than one does.
std::optional<dispatch::ProcessCounters> page_with(const std::string& directory, const SoughtTask& sought,
                                                   Duration patience);

// Returns the page of the process; nothing if there is none that this user may read.
std::optional<dispatch::ProcessCounters> server_page(const std::string& directory, int pid);

// Returns the task's name in the page: "Plant/Controller.step"; "" if the page does not have it.
std::string label_in(const dispatch::ProcessCounters& page, TaskId task);

// Returns the terms that the server itself gives to an operation, by its IDL or its contracts file. It need not have
// admitted a task with them. Each once; objects of the interface may have different ones.
std::vector<Contract> own_terms(const dispatch::ProcessCounters& page, const std::string& label);

// Returns why such a process has no trace, as a verb phrase: "runs in dispatch.mode leader-followers, ..."; "" if it
// may have one.
std::string why_untraced(const dispatch::ProcessCounters& page);
// Returns the same for a process by its page there. Also returns "" if it has no page that this user may read.
std::string why_untraced_in(const std::string& directory, int pid);

}  // namespace corelane::tool
