// Returns the commands of one kind from an answer.
#pragma once

#include <variant>
#include <vector>

#include "orb/sched/commands.h"

namespace corelane::sched::testing {

template <typename T>
std::vector<T> only(const std::vector<Command>& commands) {
  std::vector<T> found;
  for (const Command& command : commands)
    if (const T* match = std::get_if<T>(&command)) found.push_back(*match);
  return found;
}

}  // namespace corelane::sched::testing
