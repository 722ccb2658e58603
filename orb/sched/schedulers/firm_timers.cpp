#include "orb/sched/schedulers/firm_timers.h"

#include <cassert>

namespace corelane::sched {
namespace {

bool earlier(const FirmTimer& a, const FirmTimer& b) noexcept { return a.at != b.at ? a.at < b.at : a.id < b.id; }

}  // namespace

FirmTimers::FirmTimers(std::size_t capacity, Duration overshoot) : overshoot_(overshoot), place_(capacity, unset) {
  assert(overshoot >= Duration::zero());
  heap_.reserve(capacity);
  expired_.reserve(capacity);
}

bool FirmTimers::add(TimerId id, Time at) noexcept {
  if (id.value >= place_.size()) return false;
  if (place_[id.value] == unset) {
    heap_.push_back({id, at});
    place_[id.value] = heap_.size() - 1;
  } else {
    heap_[place_[id.value]].at = at;
  }
  settle(place_[id.value]);
  return true;
}

bool FirmTimers::cancel(TimerId id) noexcept {
  if (!is_set(id)) return false;
  remove(place_[id.value]);
  return true;
}

Time FirmTimers::next_hard() const noexcept {
  if (heap_.empty()) return never;
  const Time at = heap_.front().at;
  return at > never - overshoot_ ? never : at + overshoot_;
}

std::span<const FirmTimer> FirmTimers::soft_check(Time now) noexcept {
  ++checks_;
  expired_.clear();
  while (!heap_.empty() && heap_.front().at <= now) {
    expired_.push_back(heap_.front());
    remove(0);
  }
  hits_ += expired_.empty() ? 0 : 1;
  return expired_;
}

void FirmTimers::put(std::size_t place, const FirmTimer& timer) noexcept {
  heap_[place] = timer;
  place_[timer.id.value] = place;
}

// Moves the timer at `place` to its correct position in the heap.
void FirmTimers::settle(std::size_t place) noexcept {
  const FirmTimer timer = heap_[place];
  for (; place > 0 && earlier(timer, heap_[(place - 1) / 2]); place = (place - 1) / 2)
    put(place, heap_[(place - 1) / 2]);
  for (;;) {
    std::size_t child = 2 * place + 1;
    if (child + 1 < heap_.size() && earlier(heap_[child + 1], heap_[child])) ++child;
    if (child >= heap_.size() || !earlier(heap_[child], timer)) break;
    put(place, heap_[child]);
    place = child;
  }
  put(place, timer);
}

void FirmTimers::remove(std::size_t place) noexcept {
  place_[heap_[place].id.value] = unset;
  const FirmTimer last = heap_.back();
  heap_.pop_back();
  if (place == heap_.size()) return;
  put(place, last);
  settle(place);
}

}  // namespace corelane::sched
