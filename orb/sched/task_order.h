// TaskOrder is the order in which known tasks ask for admission. Bin packing does better if it takes the largest items
// first. A server cannot choose an order, because its tasks come when their clients start.
//
// An order is one line in the table of orb/sched/allocation/task_orders.cpp. The field policy.order of scenario files
// chooses one by its name.
//
// Threads: constant objects and pure functions.
#pragma once

#include <string_view>

#include "orb/base/contract.h"
#include "orb/base/registry.h"
#include "orb/sched/usable_in.h"

namespace corelane::sched {

struct TaskOrder {
  std::string_view name;  // lower case, with dashes
  std::string_view help;  // says which task comes first, behind the name and a colon
  UsableIn usable_in{};
  // Returns whether `a` asks before `b`: a strict weak order. Tasks without a preference keep the order of arrival.
  bool (*before)(const Contract& a, const Contract& b) noexcept;
};

Registry<TaskOrder> task_orders() noexcept;

}  // namespace corelane::sched
