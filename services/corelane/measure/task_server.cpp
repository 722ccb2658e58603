#include "services/corelane/measure/task_server.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "orb/os/clock.h"
#include "services/corelane/measure/measurement.h"

namespace corelane::tool {
namespace {

// Collects the terms of one page. A peer's contracts are not the server's own.
template <typename Rows>
void collect(const Rows& rows, const std::string& label, std::vector<Contract>& found) {
  for (const auto& row : rows)
    if (row.label == label && row.owner == PeerId{}) add_terms(found, {row.contract});
}

}  // namespace

std::optional<dispatch::ProcessCounters> page_with(const std::string& directory, const SoughtTask& sought,
                                                   Duration patience) {
  const auto has_it = [&](const dispatch::ProcessCounters& page) {
    const bool has_threads = page.conditions.guarantee != dispatch::Guarantee::priorities;
    return std::ranges::any_of(page.tasks, [&](const dispatch::TaskCounters& found) {
      return found.task == sought.task && found.contract == sought.contract && (found.thread != 0 || !has_threads) &&
             (operation_of(found.label) == sought.operation || may_be_cut(found.label));
    });
  };
  const Time end = os::now() + patience;
  do {  // bound: the patience
    std::vector<dispatch::ProcessCounters> pages = dispatch::read_pages(directory);
    std::erase_if(pages, [&](const dispatch::ProcessCounters& page) {
      return (sought.pid != 0 && page.pid != sought.pid) || !has_it(page);
    });
    if (pages.size() == 1) return std::move(pages.front());
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  } while (os::now() < end);
  return std::nullopt;
}

dispatch::TaskCounters task_in(const dispatch::ProcessCounters& page, TaskId task) {
  const auto found = std::ranges::find(page.tasks, task, &dispatch::TaskCounters::task);
  if (found != page.tasks.end()) return *found;
  dispatch::TaskCounters none;
  none.core = no_core;
  return none;
}

std::vector<Contract> own_terms(const dispatch::ProcessCounters& page, const std::string& label) {
  std::vector<Contract> found;
  collect(page.tasks, label, found);
  collect(page.refusals, label, found);
  return found;
}

}  // namespace corelane::tool
