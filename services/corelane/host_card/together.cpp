#include "services/corelane/host_card/together.h"

#include <atomic>
#include <utility>

#include "orb/base/minor.h"
#include "orb/os/thread.h"

namespace corelane::tool {
namespace {

enum class Start : std::uint8_t { wait, run, give_up };

}  // namespace

Expected<void, NotMeasured> run_together(std::vector<PlacedFunction> functions) {
  std::atomic<Start> start{Start::wait};
  const auto decide = [&start](Start decision) {
    // PAIR together.start: release here -> acquire in the threads. The functions see what the caller prepared.
    start.store(decision, std::memory_order_release);
    start.notify_all();
  };
  std::vector<os::Thread> threads;  // destroyed first, which joins
  for (PlacedFunction& function : functions) {
    auto thread =
        os::start_thread({.name = "corelane-doctor", .core = function.core, .fifo_priority = function.fifo_priority},
                         [&start, run = std::move(function.run)]() mutable {
                           // PAIR together.start: acquire here <- release in run_together().
                           start.wait(Start::wait, std::memory_order_acquire);
                           if (start.load(std::memory_order_acquire) == Start::run) run();
                         });
    if (!thread) {
      decide(Start::give_up);
      return NotMeasured{"no thread on core " + std::to_string(function.core.value) + ": " +
                         std::string(minor::text(thread.error()))};
    }
    threads.push_back(*std::move(thread));
  }
  decide(Start::run);
  return {};
}

}  // namespace corelane::tool
