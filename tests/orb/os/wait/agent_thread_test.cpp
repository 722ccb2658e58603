#include "orb/os/wait/agent_thread.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "orb/base/agent.h"

namespace agent_thread_test {

using namespace corelane;
using namespace corelane::os;

namespace {

// Has `work` steps to do before it sleeps.
class Counter final : public Agent {
 public:
  bool step(Time) noexcept override {
    steps_.fetch_add(1);
    return work.fetch_sub(1) > 1;
  }
  Time wake_at() const noexcept { return sleeps_until.load(); }
  Parker& parker() noexcept { return parker_; }

  void await_steps(int steps) const {
    while (steps_ < steps) std::this_thread::yield();
  }
  int steps() const { return steps_; }

  std::atomic<int> work{0};
  std::atomic<Time> sleeps_until{never};

 private:
  std::atomic<int> steps_{0};
  Parker parker_;
};

}  // namespace

TEST_CASE("an agent is stepped until it has nothing to do, and again when it is woken") {
  Counter agent;
  agent.work = 3;
  AgentThread thread(agent);
  REQUIRE(thread.start({.name = "cl-test"}));
  agent.await_steps(3);
  agent.parker().unpark();
  agent.await_steps(4);
  thread.stop();
  CHECK(agent.steps() >= 4);
}

TEST_CASE("an agent is stepped again at the time that it names") {
  Counter agent;
  agent.sleeps_until = Time{};  // has passed
  AgentThread thread(agent);
  REQUIRE(thread.start({.name = "cl-test"}));
  agent.await_steps(5);
}

TEST_CASE("a thread that starts with the first work of its agent goes on with the next") {
  Counter agent;
  AgentThread thread(agent);
  for (int work = 1; work <= 3; ++work) {
    REQUIRE(thread.start_once({.name = "cl-test"}));  // waits for ever if it starts a second one
    agent.parker().unpark();
    agent.await_steps(work);
  }
}

// Edges.

TEST_CASE("the end of an agent's thread does not wait for the time that the agent names, and may come twice") {
  Counter agent;
  AgentThread thread(agent);
  REQUIRE(thread.start({.name = "cl-test"}));
  agent.await_steps(1);
  thread.stop();
  const int steps = agent.steps();
  thread.stop();
  agent.parker().unpark();
  CHECK(agent.steps() == steps);
}

TEST_CASE("a thread that was never started ends at once") {
  Counter agent;
  AgentThread thread(agent);
  thread.stop();
  CHECK(agent.steps() == 0);
}

}  // namespace agent_thread_test
