// Tests the algorithm of RequesterLock in every order of its steps, with a system that plays the kernel. The first
// tests show that the search finds what is wrong with worse locks.
#include "orb/os/locks/basic_requester_lock.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/thread_safety.h"
#include "tests/support/interleavings.h"

using namespace corelane::os;
using namespace corelane::testing;

namespace basic_requester_lock_test {
namespace {

// How the threads of a scenario and their system behave.
struct Setting {
  int threads = 2;
  int sections = 1;  // of each thread
  int threshold = 0;
  int real_time = 0;       // so many threads, the last ones, are real-time threads
  bool has_kernel = true;  // with futexes that hand over
  int spins = 0;
  int light_waits = 0;
  bool tries = false;  // the last thread uses try_lock()
};

// SteppedSystem plays the kernel for the lock of one scenario.
struct SteppedSystem {
  template <typename T>
  using Atomic = SteppedAtomic<T>;
  using Word = Atomic<std::uint32_t>;

  static void begin(const Setting& wanted) {
    setting = wanted;
    waiters.clear();
    woken = 0;
  }

  static std::uint32_t this_thread() { return static_cast<std::uint32_t>(Stepper::this_thread()) + 1; }
  static bool is_real_time() { return is_real_time(this_thread()); }
  static int spins() { return setting.spins; }
  static void pause() { Stepper::current()->pause(); }
  static int light_waits() { return setting.light_waits; }
  static void wait_lightly(const Word& word, std::uint32_t value) {
    if (word.plain() == value) pause();
  }
  static void sleep_while(Word& word, std::uint32_t value) {
    Stepper::current()->step();
    if (word.plain() == value) Stepper::current()->block(&word);
  }
  static bool wake(Word& word) {
    Stepper::current()->step();
    if (!Stepper::current()->unblock_one(&word)) return false;
    ++woken;
    return true;
  }
  static constexpr int most_skips = 4;
  static bool lock_in_kernel(Word& word) {
    Stepper::current()->step();
    if (!setting.has_kernel) return false;
    if (word.plain() == 0) {
      word.plain() = this_thread();
      return true;
    }
    word.plain() |= has_waiters;
    waiters.push_back(this_thread());
    Stepper::current()->block(&beds[this_thread()]);  // until unlock_in_kernel() has made it the owner
    return true;
  }
  static void unlock_in_kernel(Word& word) {
    Stepper::current()->step();
    if (waiters.empty()) {
      word.plain() = 0;
      return;
    }
    auto next = std::find_if(waiters.begin(), waiters.end(), [](std::uint32_t thread) { return is_real_time(thread); });
    if (next == waiters.end()) next = waiters.begin();
    const std::uint32_t owner = *next;
    waiters.erase(next);
    word.plain() = owner | has_waiters;  // even without a further waiter, as Linux does
    (void)Stepper::current()->unblock_one(&beds[owner]);
  }

  static inline int woken = 0;  // threads that wake() has woken

 private:
  static constexpr std::uint32_t has_waiters = 0x8000'0000U;

  static bool is_real_time(std::uint32_t thread) {
    return static_cast<int>(thread) > setting.threads - setting.real_time;
  }

  static inline Setting setting{};
  static inline std::vector<std::uint32_t> waiters{};
  static inline std::array<char, 16> beds{};  // their addresses are where threads sleep in the kernel
};

using Lock = BasicRequesterLock<SteppedSystem>;

// Each thread runs critical sections that exclude each other.
template <typename Mutex>
class Exclusion {
 public:
  template <typename... Arguments>
  explicit Exclusion(const Setting& setting, Arguments&&... arguments)
      : setting_(setting), lock_(std::forward<Arguments>(arguments)...) {}

  std::vector<std::function<void()>> threads() {
    std::vector<std::function<void()>> bodies;
    for (int thread = 0; thread < setting_.threads; ++thread)
      bodies.emplace_back([this, tries = setting_.tries && thread == setting_.threads - 1] {
        for (int i = 0; i < setting_.sections; ++i) tries ? try_section() : section();
      });
    return bodies;
  }

  std::string end() const { return sections_ == setting_.threads * setting_.sections ? "" : "a section was lost"; }

 private:
  void section() {
    lock_.lock();
    work();
    lock_.unlock();
  }
  void try_section() {
    if (!lock_.try_lock()) return void(++sections_);  // it need not succeed
    work();
    lock_.unlock();
  }
  void work() {
    if (std::exchange(held_, true)) report_fault("two threads hold the lock");
    Stepper::current()->step();
    ++sections_;
    held_ = false;
  }

  const Setting setting_;
  Mutex lock_;
  bool held_ = false;
  int sections_ = 0;
};

template <typename Worse>
Explored explore_worse(int preemptions) {
  SteppedSystem::begin({});
  return explore(preemptions, [] { return std::make_shared<Exclusion<Worse>>(Setting{}); });
}

Explored explore_lock(const Setting& setting, int preemptions) {
  const auto make = [&setting] {
    SteppedSystem::begin(setting);
    return std::make_shared<Exclusion<Lock>>(setting, setting.threshold);
  };
  return explore(preemptions, make);
}

// One thread wants the lock again as soon as it has released it. In each section it lets the other thread look.
class Greed {
 public:
  std::vector<std::function<void()>> threads() {
    return {[this] {
              for (int i = 0; i < sections; ++i) {
                lock_.lock();
                ++taken_;
                SteppedSystem::pause();
                lock_.unlock();
              }
            },
            [this] {
              lock_.lock();
              taken_before_ = taken_;
              lock_.unlock();
            }};
  }
  std::string end() const {
    return taken_before_ < sections ? "" : "the waiter got the lock only when no other thread wanted it";
  }

 private:
  static constexpr int sections = 20;

  Lock lock_{0};
  int taken_ = 0;
  int taken_before_ = 0;  // by the greedy thread
};

// Three threads take the lock once. The first one lets the others look while it holds the lock.
class Convoy {
 public:
  std::vector<std::function<void()>> threads() {
    const auto section = [this] {
      lock_.lock();
      lock_.unlock();
    };
    return {[this] {
              lock_.lock();
              SteppedSystem::pause();
              lock_.unlock();
            },
            section, section};
  }
  std::string end() const {
    return SteppedSystem::woken <= 2 ? "" : "two waiters were woken " + std::to_string(SteppedSystem::woken) + " times";
  }

 private:
  Lock lock_{0};
};

// ScriptedSystem runs the threads of a test on one real thread, in the order that the test says: a thread that pauses
// or sleeps runs `meanwhile`, and goes on when that returns.
struct ScriptedSystem {
  template <typename T>
  using Atomic = std::atomic<T>;
  using Word = Atomic<std::uint32_t>;

  static std::uint32_t this_thread() { return static_cast<std::uint32_t>(thread); }
  static bool is_real_time() { return false; }
  static int spins() { return spins_now; }
  static void pause() { run_others(); }
  static int light_waits() { return 0; }
  static void wait_lightly(const Word&, std::uint32_t) {}
  static void sleep_while(Word&, std::uint32_t) {
    ++asleep;
    run_others();
  }
  static bool wake(Word&) {
    if (woken >= asleep) return false;
    return ++woken, true;
  }
  static constexpr int most_skips = 4;
  static bool lock_in_kernel(Word&) { return false; }
  static void unlock_in_kernel(Word&) {}

  static inline int thread = 0, spins_now = 0;
  static inline int asleep = 0, woken = 0;  // threads, ever
  static inline std::function<void()> meanwhile{};

 private:
  static void run_others() {
    const auto others = std::exchange(meanwhile, {});
    const int own = thread, own_spins = spins_now;
    if (others) others();
    thread = own;
    spins_now = own_spins;
  }
};

using ScriptedLock = BasicRequesterLock<ScriptedSystem>;

// `meanwhile` runs once when the thread waits. Not checked: unlock_as() releases the lock, on behalf of another thread.
void lock_as(ScriptedLock& lock, int thread, int spins,
             std::function<void()> meanwhile) CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  ScriptedSystem::thread = thread;
  ScriptedSystem::spins_now = spins;
  ScriptedSystem::meanwhile = std::move(meanwhile);
  lock.lock();
}

void unlock_as(ScriptedLock& lock, int thread) CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  ScriptedSystem::thread = thread;
  lock.unlock();
}

// Looks and takes in two steps.
class TornLock {
 public:
  void lock() {
    while (held_.load(std::memory_order_seq_cst) != 0) SteppedSystem::pause();
    held_.store(1, std::memory_order_seq_cst);
  }
  bool try_lock() { return lock(), true; }
  void unlock() { held_.store(0, std::memory_order_seq_cst); }

 private:
  SteppedAtomic<std::uint32_t> held_{0};
};

// Says too late that it sleeps: a release in between wakes nothing.
class LateLock {
 public:
  void lock() {
    while (held_.exchange(1, std::memory_order_seq_cst) != 0) {
      Stepper::current()->step();
      asleep_.store(1, std::memory_order_seq_cst);
      SteppedSystem::sleep_while(asleep_, 1);
    }
  }
  bool try_lock() { return lock(), true; }
  void unlock() {
    held_.store(0, std::memory_order_seq_cst);
    if (asleep_.exchange(0, std::memory_order_seq_cst) == 1) SteppedSystem::wake(asleep_);
  }

 private:
  SteppedAtomic<std::uint32_t> held_{0}, asleep_{0};
};

}  // namespace

TEST_CASE("the search finds two holders if a lock looks and takes in two steps") {
  CHECK(explore_worse<TornLock>(1).fault.empty());  // the other thread would run its whole section in between
  CHECK(explore_worse<TornLock>(2).fault == "two threads hold the lock");
}

TEST_CASE("the search finds a wake-up that comes too early") {
  CHECK(explore_worse<LateLock>(2).fault == "no thread can go on: they sleep, and no thread wakes them");
}

TEST_CASE("a search without preemptions runs an order for each thread that may begin") {
  CHECK(explore_lock({.threads = 2}, 0).orders == 2);
}

TEST_CASE("two threads exclude each other in every order, whether they spin, wait lightly or sleep") {
  const Setting setting =
      GENERATE(Setting{.threshold = 0}, Setting{.threshold = 1, .spins = 1}, Setting{.threshold = 0, .light_waits = 1},
               Setting{.sections = 2}, Setting{.threshold = 0, .has_kernel = false});
  const Explored explored = explore_lock(setting, 2);
  CAPTURE(setting.threshold, setting.spins, setting.light_waits, setting.sections, explored.orders);
  CHECK(explored.fault == "");
  CHECK(explored.orders > 10);
}

TEST_CASE("three threads exclude each other and none sleeps for ever") {
  const Setting setting = GENERATE(Setting{.threads = 3}, Setting{.threads = 3, .sections = 2},
                                   Setting{.threads = 3, .threshold = 1, .spins = 1},
                                   Setting{.threads = 3, .sections = 2, .threshold = 1, .spins = 1});
  const Explored explored = explore_lock(setting, 1);
  CAPTURE(explored.orders);
  CHECK(explored.fault == "");
  CHECK(explored.orders > 50);
}

TEST_CASE("real-time threads wait in the kernel, and ordinary ones do not miss the release") {
  const Setting setting = GENERATE(Setting{.threads = 2, .real_time = 1}, Setting{.threads = 2, .real_time = 2},
                                   Setting{.threads = 3, .real_time = 1}, Setting{.threads = 3, .real_time = 2},
                                   Setting{.threads = 2, .real_time = 1, .has_kernel = false});
  const Explored explored = explore_lock(setting, setting.threads == 2 ? 2 : 1);
  CAPTURE(setting.threads, setting.real_time, setting.has_kernel, explored.orders);
  CHECK(explored.fault == "");
  CHECK(explored.orders > 5);
}

TEST_CASE("an attempt to lock neither waits nor disturbs the waiters") {
  const Explored explored = explore_lock({.threads = 3, .tries = true}, 1);
  CHECK(explored.fault == "");
}

TEST_CASE("a waiter gets the lock although another thread takes it again and again") {
  const Explored explored = explore(0, [] {
    SteppedSystem::begin({});
    return std::make_shared<Greed>();
  });
  CHECK(explored.fault == "");
  CHECK(explored.orders > 1);
}

TEST_CASE("a release wakes no sleeper while another thread spins, but not for ever") {
  ScriptedSystem::asleep = ScriptedSystem::woken = 0;
  ScriptedLock lock(1);
  int holder = 1, spinner = 3, releases = 0;
  lock_as(lock, holder, 0, [] {});
  lock_as(lock, 2, 0, [&] {
    for (; ScriptedSystem::woken == 0 && releases < 100; ++releases) {
      lock_as(lock, spinner, 2, [&] { unlock_as(lock, holder); });
      std::swap(holder, spinner);
    }
    unlock_as(lock, holder);
  });
  CHECK(releases == ScriptedSystem::most_skips);
  unlock_as(lock, 2);
}

TEST_CASE("a thread that had to spin wakes a sleeper, although one that was woken before does not run yet") {
  ScriptedSystem::asleep = ScriptedSystem::woken = 0;
  ScriptedLock lock(1);
  lock_as(lock, 1, 0, [] {});
  lock_as(lock, 2, 0, [&] {
    lock_as(lock, 3, 0, [&] {
      unlock_as(lock, 1);
      CHECK(ScriptedSystem::woken == 1);
      lock_as(lock, 1, 0, [] {});
      lock_as(lock, 4, 2, [&] { unlock_as(lock, 1); });
      CHECK(ScriptedSystem::woken == 1);
      unlock_as(lock, 4);
      CHECK(ScriptedSystem::woken == 2);
    });
    unlock_as(lock, 3);
  });
  unlock_as(lock, 2);
}

TEST_CASE("each sleeping waiter is woken once if no other thread takes the lock first") {
  const Explored explored = explore(1, [] {
    SteppedSystem::begin({.threads = 3});
    return std::make_shared<Convoy>();
  });
  CHECK(explored.fault == "");
}

}  // namespace basic_requester_lock_test
