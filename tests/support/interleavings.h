// Runs a few threads of a test one step at a time, in every order in which they can take their steps. So a fault that
// needs a rare order is found at each run.
//
// The code under test calls step() before each access to shared memory (SteppedAtomic does), pause() in a spin, and
// block() and unblock_one() where it would enter the kernel to sleep and to wake. Only one thread runs at a time.
// At each step another thread may go on in place of the current one. That is a preemption. The search covers all orders
// with at most a given number of preemptions (Musuvathi and Qadeer, "Iterative context bounding", PLDI 2007); changes
// of the thread that blocks, spins or ends are free. The orders are those of sequential consistency: the search does
// not find a memory order that is too weak. The thread sanitizer does that on other tests.
//
//   const Explored explored = explore(2, [] { return std::make_shared<TwoThreadsCount>(); });
//   CHECK(explored.fault == "");
//
// A scenario has `std::vector<std::function<void()>> threads()`, and `std::string end()`, which returns what is wrong
// after the last thread has ended, or "". Code that a thread runs reports with report_fault().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace corelane::testing {

// What a search found.
struct Explored {
  int orders = 0;       // that were run
  std::string fault{};  // of the first order with one; "" if there is none
};

// Stepper is the state of one search. Only the thread that runs, or the searching thread between two orders, touches
// it.
class Stepper {
 public:
  Stepper(std::size_t threads, int preemptions) : threads_(threads), preemptions_(preemptions) {
    for (std::size_t i = 0; i < threads; ++i) may_run_.push_back(std::make_unique<std::binary_semaphore>(0));
  }

  static Stepper*& current() {
    static thread_local Stepper* stepper = nullptr;
    return stepper;
  }
  static std::size_t& this_thread() {
    static thread_local std::size_t number = 0;
    return number;
  }

  // ---- For the code under test ----

  void step() {
    for (State& state : states_)
      if (state == State::spins) state = State::runs;
    if (++steps_ > longest) return report("the threads do not end: they spin for ever");
    go_on(State::runs);
  }
  void pause() {
    if (++steps_ > longest) return report("the threads do not end: they spin for ever");
    go_on(State::spins);
  }
  void block(const void* at) {
    blocked_at_[this_thread()] = at;
    go_on(State::blocks);
  }
  // Returns whether a thread was blocked there.
  bool unblock_one(const void* at) {
    for (std::size_t i = 0; i < threads_; ++i)
      if (states_[i] == State::blocks && blocked_at_[i] == at) {
        states_[i] = State::runs;
        return true;
      }
    return false;
  }
  // The first fault counts. The order is not run to its end: its threads stop for ever.
  void report(const std::string& what) {
    fault_ = what;
    ended_.release();
    may_run_[this_thread()]->acquire();
  }

  // ---- For the search ----

  // Begins the next order; its threads wait in wait_for_turn().
  void begin() {
    position_ = 0;
    steps_ = 0;
    preempted_ = 0;
    states_.assign(threads_, State::runs);
    blocked_at_.assign(threads_, nullptr);
    std::vector<std::size_t> all(threads_);
    std::iota(all.begin(), all.end(), std::size_t{0});
    may_run_[choose(all)]->release();
  }
  void wait_for_turn() { may_run_[this_thread()]->acquire(); }
  void end_thread() { go_on(State::ended); }
  void wait_for_end() { ended_.acquire(); }
  const std::string& fault() const { return fault_; }

  // Returns false if each order has been run.
  bool next_order() {
    while (!path_.empty() && path_.back().chosen + 1 == path_.back().options) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().chosen;
    return true;
  }

 private:
  enum class State : std::uint8_t { runs, spins, blocks, ended };
  struct Choice {
    std::size_t chosen = 0, options = 0;
  };

  static constexpr int longest = 5000;  // steps of an order

  // Returns the threads that may take the next step; the calling thread first, if it may go on.
  std::vector<std::size_t> candidates() const {
    const std::size_t self = this_thread();
    std::vector<std::size_t> result;
    if (states_[self] == State::runs) result.push_back(self);
    for (std::size_t i = 0; i < threads_; ++i)
      if (i != self && states_[i] == State::runs) result.push_back(i);
    return result;
  }

  // The calling thread takes the state, and the next thread of this order runs. Returns when the calling thread is
  // next.
  void go_on(State state) {
    const std::size_t self = this_thread();
    states_[self] = state;
    std::vector<std::size_t> next = candidates();
    if (state == State::runs && preempted_ == preemptions_) next.resize(1);
    if (next.empty()) next = spinning_threads();
    if (next.empty()) return end_order(state);
    const std::size_t chosen = choose(next);
    if (state == State::runs && chosen != self) ++preempted_;
    states_[chosen] = State::runs;
    if (chosen == self) return;
    may_run_[chosen]->release();
    if (state != State::ended) may_run_[self]->acquire();
  }

  std::vector<std::size_t> spinning_threads() const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < threads_; ++i)
      if (states_[i] == State::spins) result.push_back(i);
    return result;
  }

  void end_order(State state) {
    const bool all = std::all_of(states_.begin(), states_.end(), [](State each) { return each == State::ended; });
    if (!all) fault_ = "no thread can go on: they sleep, and no thread wakes them";
    ended_.release();
    if (state != State::ended) may_run_[this_thread()]->acquire();  // for ever
  }

  std::size_t choose(const std::vector<std::size_t>& from) {
    if (from.size() == 1) return from.front();
    if (position_ == path_.size()) path_.push_back({0, from.size()});
    return from[path_[position_++].chosen];
  }

  // Constant after construction.
  const std::size_t threads_;
  const int preemptions_;
  // This order.
  int steps_ = 0;
  int preempted_ = 0;
  std::size_t position_ = 0;  // in path_
  std::vector<State> states_{};
  std::vector<const void*> blocked_at_{};
  std::string fault_{};
  // All orders.
  std::vector<Choice> path_{};
  std::vector<std::unique_ptr<std::binary_semaphore>> may_run_{};
  std::binary_semaphore ended_{0};
};

// Reports from a thread of a scenario what is wrong.
inline void report_fault(const std::string& what) { Stepper::current()->report(what); }

// SteppedAtomic has the functions of std::atomic. Each is a step.
template <typename T>
class SteppedAtomic {
 public:
  SteppedAtomic() = default;
  explicit SteppedAtomic(T value) : value_(value) {}
  SteppedAtomic(const SteppedAtomic&) = delete;
  SteppedAtomic& operator=(const SteppedAtomic&) = delete;

  T load(std::memory_order) const { return step(), value_; }
  void store(T value, std::memory_order) { step(), value_ = value; }
  T exchange(T value, std::memory_order) { return step(), std::exchange(value_, value); }
  T fetch_add(T value, std::memory_order) { return step(), std::exchange(value_, static_cast<T>(value_ + value)); }
  T fetch_sub(T value, std::memory_order) { return step(), std::exchange(value_, static_cast<T>(value_ - value)); }
  T fetch_or(T value, std::memory_order) { return step(), std::exchange(value_, static_cast<T>(value_ | value)); }
  bool compare_exchange_strong(T& expected, T value, std::memory_order, std::memory_order) {
    step();
    if (value_ != expected) return expected = value_, false;
    value_ = value;
    return true;
  }

  // The value without a step, for what the test plays: the kernel.
  T& plain() { return value_; }
  const T& plain() const { return value_; }

 private:
  static void step() {
    if (Stepper* const stepper = Stepper::current()) stepper->step();  // none while a scenario is made and checked
  }

  T value_{};
};

// Runs the scenarios that `make` makes, one for each order. `make` returns a std::shared_ptr. Stops at the first fault:
// the threads of that order then stay blocked, with what they use.
template <typename Make>
Explored explore(int preemptions, const Make& make) {
  using Scenario = decltype(make());
  struct Search {
    Search(std::size_t threads, int limit) : stepper(threads, limit) {}
    Stepper stepper;
    Scenario scenario{};
    std::vector<std::function<void()>> bodies{};
    std::vector<std::unique_ptr<std::binary_semaphore>> begin{};
    bool over = false;
  };
  const std::size_t count = make()->threads().size();
  const auto search = std::make_shared<Search>(count, preemptions);
  for (std::size_t i = 0; i < count; ++i) search->begin.push_back(std::make_unique<std::binary_semaphore>(0));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([search, i] {
      Stepper::this_thread() = i;
      for (search->begin[i]->acquire(); !search->over; search->begin[i]->acquire()) {
        search->stepper.wait_for_turn();
        Stepper::current() = &search->stepper;
        search->bodies[i]();
        Stepper::current() = nullptr;
        search->stepper.end_thread();
      }
    });
  const auto wake_all = [&search] {
    for (const auto& begin : search->begin) begin->release();
  };
  Explored explored;
  do {
    search->scenario = make();
    search->bodies = search->scenario->threads();
    wake_all();
    search->stepper.begin();
    search->stepper.wait_for_end();
    ++explored.orders;
    explored.fault = search->stepper.fault();
    if (explored.fault.empty()) explored.fault = search->scenario->end();
  } while (explored.fault.empty() && search->stepper.next_order());
  search->over = explored.fault.empty();
  if (search->over) wake_all();
  for (std::thread& thread : threads)
    if (search->over)
      thread.join();
    else
      thread.detach();
  return explored;
}

}  // namespace corelane::testing
