#include "orb/dispatch/queue/request_queue.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>
#include <vector>

#include "orb/base/peer.h"

namespace request_queue_test {

using namespace corelane;
using namespace corelane::dispatch;

namespace {

// Counts its end, so that a lost or doubled job is found.
class CountedJob final : public Job {
 public:
  CountedJob(std::atomic<int>& recycled, std::uint64_t its_number) : number(its_number), recycled_(recycled) {}
  void run(const JobContext&) noexcept override {}
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {
    recycled_.fetch_add(1, std::memory_order_relaxed);  // relaxed: read after the threads were joined
    delete this;
  }
  const std::uint64_t number;

 private:
  std::atomic<int>& recycled_;
};

class Queue {
 public:
  explicit Queue(std::size_t capacity) : queue(capacity) {}
  Pushed push(std::uint64_t number, int priority = 1) {
    JobPtr job(new CountedJob(recycled, number));
    return queue.push(job, Priority{priority});
  }
  // Pushes a job of a peer's connection, for a task or for none.
  Pushed push_of(PeerId peer, TaskId task = no_task) {
    JobPtr job(new CountedJob(recycled, peer.value));
    job->owner = peer;
    job->task = task;
    return queue.push(job, Priority{task == no_task ? 0 : 1});
  }
  // Pushes jobs until the queue refuses one. Returns how many it took.
  std::size_t fill_of(PeerId peer, TaskId task = no_task) {
    std::size_t count = 0;
    while (push_of(peer, task) == Pushed::done) ++count;  // bound: the capacity
    return count;
  }
  // Pushes a job that may displace a less important one if the queue is full. `displaced`: the number of that job, or
  // 0.
  Pushed push_over(std::uint64_t number, int priority, std::uint64_t& displaced) {
    JobPtr job(new CountedJob(recycled, number));
    JobPtr other;
    const Pushed pushed = queue.push(job, Priority{priority}, &other);
    displaced = number_of(other);
    return pushed;
  }
  std::uint64_t pop() { return number_of(queue.pop()); }

  std::atomic<int> recycled{0};
  RequestQueue queue;

 private:
  static std::uint64_t number_of(const JobPtr& job) { return job ? static_cast<CountedJob&>(*job).number : 0; }
};

}  // namespace

TEST_CASE("an empty queue gives nothing") { CHECK(Queue(4).pop() == 0); }

TEST_CASE("a queue is clear while nothing is in it and until it closes") {
  Queue queue(4);
  CHECK(queue.queue.is_idle());
  REQUIRE(queue.push(2, GENERATE(0, 1)) == Pushed::done);
  CHECK_FALSE(queue.queue.is_idle());
  CHECK(queue.pop() == 2);
  CHECK(queue.queue.is_idle());
  queue.queue.close();
  CHECK_FALSE(queue.queue.is_idle());
}

TEST_CASE("the highest priority comes first and equal ones in order of arrival") {
  Queue queue(8);
  REQUIRE(queue.push(1, 5) == Pushed::done);
  REQUIRE(queue.push(2, 7) == Pushed::done);
  REQUIRE(queue.push(3, 5) == Pushed::done);
  REQUIRE(queue.push(4, 7) == Pushed::done);
  REQUIRE(queue.push(5, 0) == Pushed::done);
  CHECK(queue.pop() == 2);
  CHECK(queue.pop() == 4);
  CHECK(queue.pop() == 1);
  CHECK(queue.pop() == 3);
  CHECK(queue.pop() == 5);
  CHECK(queue.pop() == 0);
}

TEST_CASE("a queue that is destroyed gives its jobs back") {
  std::atomic<int> recycled{0};
  {
    RequestQueue queue(4);
    for (std::uint64_t i = 0; i < 3; ++i) {
      JobPtr job(new CountedJob(recycled, i));
      REQUIRE(queue.push(job, Priority{static_cast<int>(i)}) == Pushed::done);
      CHECK_FALSE(job);
    }
  }
  CHECK(recycled == 3);
}

TEST_CASE("four producers and a consumer pass every job once and in each producer's order") {
  constexpr std::uint64_t each = 20'000;
  Queue queue(128);
  std::vector<std::jthread> producers;
  for (std::uint64_t producer = 0; producer < 4; ++producer)
    producers.emplace_back([&, producer] {
      for (std::uint64_t i = 1; i <= each;) {
        if (queue.push(producer << 32 | i, static_cast<int>(producer)) == Pushed::done)
          ++i;
        else
          std::this_thread::yield();
      }
    });
  std::uint64_t seen[4] = {};
  for (std::uint64_t count = 0; count < 4 * each;) {
    const std::uint64_t number = queue.pop();
    if (number == 0) {
      std::this_thread::yield();
      continue;
    }
    const std::uint64_t producer = number >> 32;
    if ((number & 0xffff'ffff) != ++seen[producer]) FAIL("producer " << producer << " out of order at " << number);
    ++count;
  }
  producers.clear();
  CHECK(queue.pop() == 0);
}

// Four threads push random priorities and count what they have pushed. So the consumer knows of jobs that were in the
// queue before it looked.
TEST_CASE("under contention no job is popped while one of higher priority has been in the queue") {
  constexpr int levels = 8;
  constexpr int each = 20'000;
  Queue queue(4 * each);
  std::atomic<int> pushed[levels] = {};
  std::vector<std::jthread> readers;
  for (unsigned reader = 0; reader < 4; ++reader)
    readers.emplace_back([&, reader] {
      std::minstd_rand random(reader + 1);
      for (int i = 0; i < each; ++i) {
        const int level = static_cast<int>(random() % levels);
        queue.push(static_cast<std::uint64_t>(level) + 1, level);
        pushed[level].fetch_add(1, std::memory_order_release);
      }
    });
  int popped[levels] = {};
  for (int count = 0; count < 4 * each;) {
    int known[levels];
    for (int level = 0; level < levels; ++level) known[level] = pushed[level].load(std::memory_order_acquire);
    const std::uint64_t number = queue.pop();
    if (number == 0) {
      std::this_thread::yield();
      continue;
    }
    for (int above = static_cast<int>(number); above < levels; ++above)
      if (known[above] > popped[above]) FAIL("level " << number - 1 << " before " << above);
    ++popped[number - 1];
    ++count;
  }
}

TEST_CASE("four readers that overfill a queue lose nothing silently and displace only what matters less") {
  constexpr int each = 5'000;
  Queue queue(16);
  std::atomic<int> done{0}, full{0}, displaced{0}, wrong{0};
  {
    std::vector<std::jthread> readers;
    for (unsigned reader = 0; reader < 4; ++reader)
      readers.emplace_back([&, reader] {
        std::minstd_rand random(reader + 1);
        for (int i = 0; i < each; ++i) {
          const int level = static_cast<int>(random() % 8);
          std::uint64_t other = 0;
          const bool taken = queue.push_over(static_cast<std::uint64_t>(level) + 1, level, other) == Pushed::done;
          (taken ? done : full).fetch_add(1, std::memory_order_relaxed);      // relaxed: counts, read after the join
          if (other != 0) displaced.fetch_add(1, std::memory_order_relaxed);  // relaxed: as above
          if (other > static_cast<std::uint64_t>(level))
            wrong.fetch_add(1, std::memory_order_relaxed);  // relaxed: as above
        }
      });
  }
  int left = 0;
  for (std::uint64_t last = 8, number = queue.pop(); number != 0; number = queue.pop(), ++left) {
    CHECK(number <= last);
    last = number;
  }
  CHECK(left == 16);
  CHECK(done + full == 4 * each);
  CHECK(done == displaced + left);
  CHECK(displaced > 0);
  CHECK(wrong == 0);
}

TEST_CASE("a request that comes to a full queue replaces the oldest request of the least importance") {
  Queue queue(3);
  REQUIRE(queue.push(1, 5) == Pushed::done);
  REQUIRE(queue.push(2, 3) == Pushed::done);
  REQUIRE(queue.push(3, 3) == Pushed::done);
  std::uint64_t displaced = 0;
  CHECK(queue.push_over(4, 4, displaced) == Pushed::done);
  CHECK(displaced == 2);
  CHECK(queue.push_over(5, 3, displaced) == Pushed::full);  // no more important than the least important one
  CHECK(displaced == 0);
  CHECK(queue.push_over(6, 9, displaced) == Pushed::done);
  CHECK(displaced == 3);
  CHECK(queue.pop() == 6);
  CHECK(queue.pop() == 1);
  CHECK(queue.pop() == 4);
  CHECK(queue.pop() == 0);
}

// Shares.

TEST_CASE("one peer gets half of a queue, more peers share it, and the next one finds room") {
  Queue queue(64);
  CHECK(queue.fill_of(peer_of(1, 1)) == 32);
  CHECK(queue.fill_of(peer_of(2, 2, true)) == 16);
  CHECK(queue.fill_of(peer_of(3, 3)) == 8);
  for (std::uint32_t holder = 4; holder < 8; ++holder) CHECK(queue.push_of(peer_of(holder, holder)) == Pushed::done);
  CHECK(queue.queue.size() == 60);
}

TEST_CASE("connections of one holder have one share, and those of unknown holders one each") {
  Queue queue(64);
  CHECK(queue.fill_of(peer_of(1, 1)) == 32);
  CHECK(queue.push_of(peer_of(2, 1)) == Pushed::full);
  CHECK(queue.fill_of(peer_of(3, 0)) == 16);
  CHECK(queue.push_of(peer_of(4, 0)) == Pushed::done);
}

TEST_CASE("each task has a share of its own, also of one peer") {
  Queue queue(64);
  CHECK(queue.fill_of(peer_of(1, 1), TaskId{1}) == 32);
  CHECK(queue.push_of(peer_of(2, 2), TaskId{1}) == Pushed::full);
  CHECK(queue.fill_of(peer_of(1, 1), TaskId{2}) == 16);
  CHECK(queue.fill_of(peer_of(1, 1)) == 8);
}

TEST_CASE("a job takes the place of a lesser one only while its task has no other place") {
  Queue queue(4);
  REQUIRE(queue.push_of(peer_of(1, 1), TaskId{1}) == Pushed::done);
  REQUIRE(queue.fill_of(PeerId{}) == 3);  // the oldest of these is displaced first
  const auto push_over = [&](TaskId task, JobPtr& displaced) {
    JobPtr job(new CountedJob(queue.recycled, 7));
    job->owner = peer_of(1, 1);
    job->task = task;
    return queue.queue.push(job, Priority{5}, &displaced);
  };
  JobPtr displaced;
  CHECK(push_over(TaskId{1}, displaced) == Pushed::full);
  CHECK_FALSE(displaced);
  CHECK(push_over(TaskId{2}, displaced) == Pushed::done);
  CHECK(displaced);
  displaced.reset();
  CHECK(push_over(TaskId{2}, displaced) == Pushed::full);
  CHECK(queue.queue.size() == 4);
  CHECK(queue.pop() == 7);
  CHECK(push_over(TaskId{2}, displaced) == Pushed::done);  // in the place that became free
  CHECK_FALSE(displaced);
}

TEST_CASE("a share comes back with each job that leaves the queue") {
  Queue queue(4);
  const PeerId peer = peer_of(1, 1);
  REQUIRE(queue.fill_of(peer) == 2);
  CHECK(queue.pop() == peer.value);
  CHECK(queue.push_of(peer) == Pushed::done);
  CHECK(queue.push_of(peer) == Pushed::full);
  while (queue.pop() != 0) continue;
  CHECK(queue.fill_of(peer) == 2);
}

TEST_CASE("work of this process has no share and takes what is free") {
  Queue queue(8);
  REQUIRE(queue.fill_of(peer_of(1, 1)) == 4);
  CHECK(queue.fill_of(PeerId{}) == 4);
}

// Edges.

TEST_CASE("a queue of one place takes one job of any peer") {
  Queue queue(1);
  CHECK(queue.fill_of(peer_of(1, 1)) == 1);
  CHECK(queue.pop() != 0);
  CHECK(queue.fill_of(peer_of(2, 2)) == 1);
}

TEST_CASE("peers beyond those that are counted are still bounded by the capacity") {
  constexpr std::uint32_t peers = FairShares::most_counted + 100;
  Queue queue(4 * peers);
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t holder = 1; holder <= peers; ++holder)
      CHECK(queue.push_of(peer_of(holder, holder)) == Pushed::done);
    CHECK(queue.queue.size() == peers);
    while (queue.pop() != 0) continue;
    CHECK(queue.queue.size() == 0);
  }
}

TEST_CASE("a queue takes exactly its capacity over all priorities, and room returns with each pop") {
  Queue queue(3);
  for (int i = 1; i <= 3; ++i) REQUIRE(queue.push(static_cast<std::uint64_t>(i), i) == Pushed::done);
  CHECK(queue.push(4) == Pushed::full);
  CHECK(queue.pop() == 3);
  CHECK(queue.push(5) == Pushed::done);
  CHECK(queue.push(6) == Pushed::full);
  CHECK(queue.queue.size() == 3);
}

TEST_CASE("priorities beyond the levels share the ends") {
  Queue queue(8);
  REQUIRE(queue.push(1, -7) == Pushed::done);
  REQUIRE(queue.push(2, 1'000'000) == Pushed::done);
  REQUIRE(queue.push(3, static_cast<int>(RequestQueue::levels) - 1) == Pushed::done);
  REQUIRE(queue.push(4, 0) == Pushed::done);
  CHECK(queue.pop() == 2);
  CHECK(queue.pop() == 3);
  CHECK(queue.pop() == 1);
  CHECK(queue.pop() == 4);
}

// Error paths.

TEST_CASE("a job that does not fit stays with its producer") {
  std::atomic<int> recycled{0};
  RequestQueue queue(0);
  JobPtr job(new CountedJob(recycled, 1));
  CHECK(queue.push(job, Priority{1}) == Pushed::full);
  CHECK(job);
}

TEST_CASE("a closed queue takes nothing and still gives what is in it") {
  Queue queue(4);
  REQUIRE(queue.push(1) == Pushed::done);
  queue.queue.close();
  CHECK(queue.push(2) == Pushed::closed);
  CHECK(queue.pop() == 1);
}

}  // namespace request_queue_test
