#include "orb/leader_followers/thread_pool.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "orb/base/minor.h"
#include "orb/base/sanitizer.h"
#include "orb/os/fd.h"
#include "orb/os/machine/topology.h"
#include "orb/os/thread.h"
#include "tests/support/stream_harness.h"

using namespace corelane;
using namespace corelane::leader_followers;
using corelane::testing::Mailbox;

namespace {

// An event that a test can raise. It records what its handler saw.
class Event final : public ReadyHandler, public std::enable_shared_from_this<Event> {
 public:
  explicit Event(bool stays = true) : stays_(stays) {}
  void raise() const {
    const std::uint64_t one = 1;
    REQUIRE(write(fd_.get(), &one, sizeof one) == sizeof one);
  }
  int descriptor() const { return fd_.get(); }

  bool on_ready() noexcept override {
    // relaxed: only overlapping calls would see this flag twice
    if (inside_.exchange(true, std::memory_order_relaxed)) overlapped = true;
    std::uint64_t count = 0;
    const bool read_all = read(fd_.get(), &count, sizeof count) == sizeof count;
    cores.put(os::current_core());
    if (block_until) block_until->take();
    if (const auto act = std::exchange(meanwhile, nullptr)) act();
    inside_.store(false, std::memory_order_relaxed);  // relaxed: see above
    if (read_all) handled.put(static_cast<int>(count));
    return stays_;
  }
  void on_stopping() noexcept override { stopped.put(true); }

  Mailbox<int> handled;
  Mailbox<bool> stopped;
  Mailbox<CoreId> cores;
  Mailbox<bool>* block_until = nullptr;
  std::function<void()> meanwhile;
  std::atomic<bool> overlapped{false};

 private:
  const bool stays_;
  const os::Fd fd_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> inside_{false};
};

std::unique_ptr<ThreadPool> started(PoolOptions options = {}) {
  auto pool = ThreadPool::start(options);
  REQUIRE(pool);
  return std::move(*pool);
}

std::vector<CoreId> usable_cores() {
  auto topology = os::Topology::detect();
  REQUIRE(topology);
  std::vector<CoreId> cores;
  for (const auto& core : topology->cores()) cores.push_back(core.core);
  return cores;
}

}  // namespace

TEST_CASE("a ready stream is handled by one thread at a time") {
  const auto pool = started({.threads = 4});
  const auto event = std::make_shared<Event>();
  REQUIRE(pool->add(event->descriptor(), event));
  for (int i = 0; i < 200; ++i) {
    event->raise();
    event->handled.take();
  }
  CHECK_FALSE(event->overlapped);
}

TEST_CASE("while one stream is handled a follower leads and handles another") {
  Mailbox<bool> go;
  const auto pool = started({.threads = 2});
  const auto slow = std::make_shared<Event>(), quick = std::make_shared<Event>();
  slow->block_until = &go;
  REQUIRE(pool->add(slow->descriptor(), slow));
  REQUIRE(pool->add(quick->descriptor(), quick));
  slow->raise();
  slow->cores.take();  // its handler waits now
  quick->raise();
  CHECK(quick->handled.take() == 1);
  CHECK(slow->handled.empty());
  go.put(true);
  CHECK(slow->handled.take() == 1);
}

TEST_CASE("all threads of a single core run there") {
  const auto cores = usable_cores();
  const auto pool = started({.threads = 3, .placement = Placement::single_core, .cores = {cores.back()}});
  const auto event = std::make_shared<Event>();
  REQUIRE(pool->add(event->descriptor(), event));
  for (int i = 0; i < 20; ++i) {
    event->raise();
    CHECK(event->cores.take() == cores.back());
    event->handled.take();
  }
}

TEST_CASE("threads bound round robin use every core and no other, and so begin those that allocation moves") {
  const auto cores = usable_cores();
  const auto placement = GENERATE(Placement::round_robin, Placement::allocated);
  const int threads = static_cast<int>(cores.size());
  Mailbox<bool> go;
  const auto pool = started({.threads = threads, .placement = placement, .cores = cores});
  std::vector<std::shared_ptr<Event>> events;
  std::vector<CoreId> seen;
  for (int i = 0; i < threads; ++i) {  // so that all threads are busy at once
    const auto event = events.emplace_back(std::make_shared<Event>());
    event->block_until = &go;
    REQUIRE(pool->add(event->descriptor(), event));
    event->raise();
    seen.push_back(event->cores.take());
  }
  for (int i = 0; i < threads; ++i) go.put(true);
  std::ranges::sort(seen);
  auto expected = cores;
  std::ranges::sort(expected);
  CHECK(seen == expected);
}

TEST_CASE("a removed stream is handled no more") {
  const auto pool = started();
  const auto gone = std::make_shared<Event>(), other = std::make_shared<Event>();
  REQUIRE(pool->add(gone->descriptor(), gone));
  REQUIRE(pool->add(other->descriptor(), other));
  pool->remove(gone->descriptor());
  gone->raise();
  for (int i = 0; i < 20; ++i) {
    other->raise();
    other->handled.take();
  }
  CHECK(gone->handled.empty());
  pool->stop();
  CHECK(gone->stopped.empty());
  CHECK(other->stopped.take());
}

TEST_CASE("a handler that has enough may be registered again") {
  const auto pool = started();
  const auto once = std::make_shared<Event>(false);
  for (int i = 0; i < 50; ++i) {
    while (!pool->add(once->descriptor(), once)) std::this_thread::yield();  // the last call has not returned yet
    once->raise();
    CHECK(once->handled.take() == 1);
  }
}

TEST_CASE("a stream registered anew from within its handler goes to the new one from then on") {
  const auto pool = started();
  const auto first = std::make_shared<Event>(false);
  struct Onward final : ReadyHandler {
    explicit Onward(std::shared_ptr<Event> event) : to(std::move(event)) {}
    bool on_ready() noexcept override { return static_cast<void>(to->on_ready()), true; }
    void on_stopping() noexcept override {}
    const std::shared_ptr<Event> to;
  };
  const auto onward = std::make_shared<Onward>(first);
  for (int i = 0; i < 50; ++i) {
    bool added = false;
    first->meanwhile = [&] {
      pool->remove(first->descriptor());
      added = pool->add(first->descriptor(), onward).has_value();
    };
    REQUIRE(pool->add(first->descriptor(), first));
    first->raise();
    CHECK(first->handled.take() == 1);  // the old handler does this, and asks not to be called again
    CHECK(added);
    first->raise();
    CHECK(first->handled.take() == 1);
    pool->remove(first->descriptor());
  }
}

// Error paths.

TEST_CASE("one stream is registered once") {
  const auto pool = started();
  const auto event = std::make_shared<Event>();
  REQUIRE(pool->add(event->descriptor(), event));
  CHECK_FALSE(pool->add(event->descriptor(), event));
}

TEST_CASE("a stopped pool takes no stream") {
  const auto pool = started();
  pool->stop();
  pool->stop();
  const auto event = std::make_shared<Event>();
  CHECK_FALSE(pool->add(event->descriptor(), event));
  CHECK(event->stopped.empty());
}

TEST_CASE("a descriptor beyond what select carries is refused and not lost") {
  const auto pool = started();
  for (const int descriptor : {-1, 1024, 1'000'000}) {
    const auto added = pool->add(descriptor, std::make_shared<Event>());
    REQUIRE_FALSE(added);
    CHECK(added.error().minor == minor::beyond_select);
  }
}

// Runs in a child process, because only root may raise a limit that was lowered.
TEST_CASE("a pool that gets no descriptors does not start") {
#if CORELANE_ADDRESS_SANITIZER
  WARN("SKIPPED: the sanitizer needs descriptors of its own to look at objects");
  return;
#endif
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const int lowest = dup(STDERR_FILENO);
    close(lowest);
    close(STDERR_FILENO);  // ACE writes a message about it
    const rlimit none{static_cast<rlim_t>(lowest), static_cast<rlim_t>(lowest)};
    if (lowest < 0 || setrlimit(RLIMIT_NOFILE, &none) != 0) _exit(2);
    for (int filler = 0; filler >= 0;) filler = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const auto pool = ThreadPool::start({});
    _exit(!pool && pool.error().minor == minor::no_descriptor ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("pool options out of range are refused") {
  const PoolOptions options =
      GENERATE(PoolOptions{.threads = 0}, PoolOptions{.threads = 257}, PoolOptions{.placement = Placement::round_robin},
               PoolOptions{.placement = Placement::single_core}, PoolOptions{.placement = Placement::allocated});
  const auto pool = ThreadPool::start(options);
  REQUIRE_FALSE(pool);
  CHECK(pool.error().minor == minor::bad_option);
}

TEST_CASE("a core that is not there is refused") {
  const auto pool = ThreadPool::start({.placement = Placement::single_core, .cores = {CoreId{4000}}});
  REQUIRE_FALSE(pool);
  CHECK(pool.error().minor == minor::core_unusable);
}
