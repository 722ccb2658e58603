// The watcher of a real run: computes like the jobs of a run, but on cores that do nothing else, and counts the gaps.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orb/os/thread.h"
#include "orb/rt/work.h"
#include "services/corelane/real_run/node/roles.h"
#include "services/corelane/real_run/node_messages.h"

namespace corelane::tool {
namespace {

constexpr int watcher_priority = 60;  // SCHED_FIFO, as of the threads of clients

}  // namespace

int watch_gaps_here() {
  rt::calibrate();
  std::string line;
  std::getline(std::cin, line);
  const auto order = message_of<WatchOrder>(line);
  if (!order) throw std::runtime_error("the watcher's first line of input is no order: " + order.error().text);
  std::vector<rt::WorkReport> reports(order->cores.size());
  std::vector<os::Thread> threads;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const CoreId core{static_cast<std::int16_t>(order->cores[i])};
    auto thread = os::start_thread(
        {.name = "watcher", .core = core, .fifo_priority = watcher_priority},
        [&report = reports[i], length = Duration{order->length}]() noexcept { report = rt::work(length); });
    if (!thread) throw std::runtime_error("there is no thread for core " + std::to_string(core.value));
    threads.push_back(*std::move(thread));
  }
  for (os::Thread& thread : threads) thread.join();
  WatchReport sum;
  for (const rt::WorkReport& report : reports) {
    sum.watched += report.elapsed.count();
    sum.gaps += report.unswitched_gaps;
  }
  std::cout << line_of(sum) << std::endl;
  return 0;
}

}  // namespace corelane::tool
