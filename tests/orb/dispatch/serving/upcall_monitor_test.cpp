#include "orb/dispatch/serving/upcall_monitor.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace upcall_monitor_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

struct Thread final : Upcaller {
  Now now() noexcept override { return running; }
  std::uint64_t servants_ended() const noexcept override { return have_ended; }
  void take_over(Turn::Upcall upcall) noexcept override { taken.push_back(upcall); }

  Now running;
  std::uint64_t have_ended = 0;
  std::vector<Turn::Upcall> taken;
};

struct Monitor final : UpcallMonitor {
  using UpcallMonitor::UpcallMonitor;
  const std::vector<std::shared_ptr<Upcaller>>& upcallers() override { return threads; }

  std::shared_ptr<Thread> thread = std::make_shared<Thread>();
  std::vector<std::shared_ptr<Upcaller>> threads{thread};
};

}  // namespace

TEST_CASE("a servant that is seen twice loses its connection, and a new one does not") {
  Monitor monitor(200us);
  const int one = 1, other = 2;  // connections
  monitor.thread->running = {&one, 7};
  CHECK(monitor.look());
  monitor.thread->running = {&one, 8};
  CHECK(monitor.look());
  monitor.thread->running = {&other, 8};
  CHECK(monitor.look());
  CHECK(monitor.thread->taken.empty());
  CHECK(monitor.look());
  CHECK(monitor.thread->taken == std::vector<Turn::Upcall>{8});
}

TEST_CASE("the monitor looks less often while servants are short, and often again after a long one") {
  Monitor monitor(200us);
  for (const Duration expected : {1ms, 2ms, 4ms, 5ms, 5ms}) CHECK(monitor.pause_after(monitor.look()) == expected);
  const int connection = 1;
  monitor.thread->running = {&connection, 3};
  CHECK(monitor.pause_after(monitor.look()) == 200us);
  monitor.thread->running = {};
  CHECK(monitor.pause_after(monitor.look()) == 5ms);  // the upcall was short
  monitor.thread->running = {&connection, 4};
  for (int i = 0; i < 2; ++i) CHECK(monitor.pause_after(monitor.look()) == 200us);
  monitor.thread->running = {};
  CHECK(monitor.pause_after(monitor.look()) == 1ms);
}

TEST_CASE("the monitor may sleep after two looks without a servant, and not while servants come") {
  Monitor monitor(200us);
  const int connection = 1;
  monitor.thread->running = {&connection, 3};
  monitor.look();
  CHECK_FALSE(monitor.may_sleep());
  monitor.thread->running = {};
  for (int i = 0; i < 100; ++i) {  // short servants, none of which runs during a look
    ++monitor.thread->have_ended;
    CHECK_FALSE(monitor.look());
    CHECK_FALSE(monitor.may_sleep());
    monitor.look();
    CHECK_FALSE(monitor.may_sleep());
  }
  monitor.look();
  CHECK(monitor.may_sleep());
  monitor.thread->running = {&connection, 4};
  monitor.look();
  CHECK_FALSE(monitor.may_sleep());
}

TEST_CASE("patience is the shortest pause") {
  Monitor monitor(20ms);
  for (int i = 0; i < 5; ++i) CHECK(monitor.pause_after(monitor.look()) == 20ms);
}

}  // namespace upcall_monitor_test
