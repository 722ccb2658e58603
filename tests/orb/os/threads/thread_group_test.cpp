#include "orb/os/threads/thread_group.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <thread>

namespace thread_group_test {

using namespace corelane;
using namespace corelane::os;

namespace {

// Lives until it may end.
class Waiter final : public ThreadGroup::Member {
 public:
  explicit Waiter(const std::atomic<bool>& may_end) : may_end_(may_end) {}
  bool has_handle() const noexcept { return has_handle_; }
  bool has_begun() const noexcept { return begun_; }

 private:
  void live() noexcept override {
    has_handle_ = thread().joinable();
    begun_ = true;
    while (!may_end_) std::this_thread::yield();
  }

  const std::atomic<bool>& may_end_;
  std::atomic<bool> begun_{false}, has_handle_{false};
};

struct Group {
  explicit Group(std::size_t most = ThreadGroup::no_limit) : threads({.name = "cl-test-"}, most) {}
  ~Group() { may_end = true; }

  std::shared_ptr<Waiter> start() {
    auto made = std::make_shared<Waiter>(may_end);
    const auto started = threads.start(made);
    REQUIRE(started);
    return *started ? made : nullptr;
  }

  std::atomic<bool> may_end{false};
  ThreadGroup threads;
};

}  // namespace

TEST_CASE("a thread of a group knows its handle from the start") {
  Group group;
  const auto member = group.start();
  REQUIRE(member);
  while (!member->has_begun()) std::this_thread::yield();
  CHECK(member->has_handle());
  CHECK(group.threads.size() == 1);
  group.may_end = true;
}

TEST_CASE("a group starts no more threads than it may have, and again when one has ended") {
  Group group(2);
  CHECK(group.start());
  CHECK(group.start());
  CHECK_FALSE(group.start());
  CHECK(group.threads.size() == 2);
  group.may_end = true;
  while (group.threads.size() > 0) std::this_thread::yield();
  CHECK(group.start());
}

TEST_CASE("threads that have ended are joined and forgotten") {
  Group group;
  const std::weak_ptr<Waiter> member = group.start();
  const std::uint64_t before = group.threads.generation();
  group.may_end = true;
  while (!member.expired()) {  // bound: the thread ends
    group.threads.join_ended();
    std::this_thread::yield();
  }
  CHECK(group.threads.size() == 0);
  CHECK(group.threads.generation() > before);
  int members = 0;
  group.threads.for_each([&](const ThreadGroup::MemberPtr&) { ++members; });
  CHECK(members == 0);
}

// Edges.

TEST_CASE("a thread whose thread-local objects take long to be destroyed is not waited for, but joined later") {
  struct AtEnd {
    ~AtEnd() {
      if (run) run();
    }
    std::function<void()> run{};
  };
  struct Slow final : ThreadGroup::Member {
    void live() noexcept override {
      thread_local AtEnd at_end;
      at_end.run = [this] {
        ends = true;
        while (!may_end) std::this_thread::yield();
      };
    }
    std::atomic<bool> ends{false}, may_end{false};
  };
  ThreadGroup threads({.name = "cl-test-"});
  const auto slow = std::make_shared<Slow>();
  REQUIRE(*threads.start(slow));
  while (!slow->ends) std::this_thread::yield();
  threads.join_ended();
  const auto members = [&] {
    int count = 0;
    threads.for_each([&](const ThreadGroup::MemberPtr&) { ++count; });
    return count;
  };
  CHECK(members() == 1);
  slow->may_end = true;
  while (members() > 0) threads.join_ended();  // bound: the thread ends
  CHECK(threads.size() == 0);
}

TEST_CASE("a group that was joined starts no thread") {
  Group group;
  REQUIRE(group.start());
  group.may_end = true;
  group.threads.join();
  CHECK(group.threads.size() == 0);
  CHECK_FALSE(group.start());
  group.threads.join();
}

TEST_CASE("a thread that leaves makes room before it ends") {
  struct Leaver final : ThreadGroup::Member {
    explicit Leaver(ThreadGroup& all) : group(all) {}
    void live() noexcept override {
      group.leave(*this);
      group.leave(*this);
      has_left = true;
      while (!may_end) std::this_thread::yield();
    }
    ThreadGroup& group;
    std::atomic<bool> has_left{false}, may_end{false};
  };
  ThreadGroup threads({.name = "cl-test-"}, 1);
  const auto first = std::make_shared<Leaver>(threads), second = std::make_shared<Leaver>(threads);
  REQUIRE(*threads.start(first));
  while (!first->has_left) std::this_thread::yield();
  CHECK(threads.size() == 0);
  CHECK(*threads.start(second));
  first->may_end = true;
  second->may_end = true;
  threads.join();
  CHECK(threads.size() == 0);
}

// Error paths.

TEST_CASE("a group whose core cannot be used starts no thread and says why") {
  ThreadGroup threads({.name = "cl-test-", .core = CoreId{32'000}});
  const std::atomic<bool> may_end{true};
  const auto started = threads.start(std::make_shared<Waiter>(may_end));
  REQUIRE_FALSE(started);
  CHECK(started.error().kind == ErrorKind::bad_param);
  CHECK(threads.size() == 0);
}

}  // namespace thread_group_test
