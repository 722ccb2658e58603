// UsableIn says where a policy works: an admission test, an allocation strategy, or an order of tasks. Code that takes
// a policy by its name refuses one that does not work there, and says where it does.
//
// Threads: values and pure functions. for_servers() and text_of() allocate.
#pragma once

#include <string>
#include <vector>

#include "orb/base/registry.h"

namespace corelane::sched {

struct UsableIn {
  bool analysis = true;   // corelane plan
  bool simulator = true;  // virtual cores in virtual time (orb/sim)
  bool server = true;     // the settings of a server
};
inline constexpr UsableIn outside_servers{.server = false};

// Returns the entries that work in a server, in the order of the registry. Each entry has `usable_in`.
template <typename Entry>
std::vector<const Entry*> for_servers(Registry<Entry> registry) {
  std::vector<const Entry*> entries;
  for (const Entry* const entry : registry)
    if (entry->usable_in.server) entries.push_back(entry);
  return entries;
}

// Returns in words where a policy works, such as "the analysis (corelane plan) and the simulator".
std::string text_of(const UsableIn& usable);

}  // namespace corelane::sched
