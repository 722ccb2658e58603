// What the counter pages of a runtime directory say of the server at which a command has admitted a task.
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
  Contract contract{};  // as it was admitted
  int pid = 0;          // its server; 0: not known
};

// The page of the server that has the task, which each server writes twice a second. Nothing: none shows it within
// `patience`, or more than one does.
std::optional<dispatch::ProcessCounters> page_with(const std::string& directory, const SoughtTask& sought,
                                                   Duration patience);

// The page of the process; nothing where there is none that this user may look at.
std::optional<dispatch::ProcessCounters> server_page(const std::string& directory, int pid);

// What the page calls the task: "Plant/Controller.step"; empty: it has none such.
std::string label_in(const dispatch::ProcessCounters& page, TaskId task);

// The terms of the contracts that the server itself gives to an operation, by its IDL or its contracts file, whether it
// admitted a task with them or not. Each once; one for each object of the interface may be another.
std::vector<Contract> own_terms(const dispatch::ProcessCounters& page, const std::string& label);

// Why such a process has no trace to give, as what it does: "runs in dispatch.mode leader-followers, ..."; "": nothing
// speaks against it.
std::string why_untraced(const dispatch::ProcessCounters& page);
// The same of a process by its page there; "", too, where it has none that this user may look at.
std::string why_untraced_in(const std::string& directory, int pid);

}  // namespace corelane::tool
