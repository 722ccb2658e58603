// TimerQueue holds functions in the order of their time, and of scheduling for equal times.
// Threads: any; one lock, held for a tree operation. The caller runs and destroys the functions outside of it.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/unique_function.h"

namespace corelane::transport {

class TimerQueue {
 public:
  using Function = os::UniqueFunction<void()>;
  struct Added {
    TimerId id;
    bool is_first;  // due before all others: the waiting thread has to wait for less
  };

  Added add(Time time, Function function) {
    const os::LockGuard lock(mutex_);
    const TimerId id{++last_id_};
    const auto known = times_.emplace(id, time).first;
    try {
      const auto place = queue_.emplace(Key{time, id}, std::move(function)).first;
      return {id, place == queue_.begin()};
    } catch (...) {  // out of memory: undone, so that a later add() finds no trace of this one
      times_.erase(known);
      throw;
    }
  }

  // Returns the function, which then never runs; nothing if it was taken before.
  std::optional<Function> remove(TimerId id) {
    const os::LockGuard lock(mutex_);
    const auto time = times_.find(id);
    if (time == times_.end()) return std::nullopt;
    return take(queue_.find(Key{time->second, id}));
  }

  // Returns the first function that is due at `now`.
  std::optional<Function> take_due(Time now) {
    const os::LockGuard lock(mutex_);
    if (queue_.empty() || queue_.begin()->first.first > now) return std::nullopt;
    return take(queue_.begin());
  }

  void clear() {
    std::map<Key, Function> dropped;
    const os::LockGuard lock(mutex_);
    dropped.swap(queue_);
    times_.clear();
  }

  // Returns when the first is due; `never` if there is none.
  Time first() const {
    const os::LockGuard lock(mutex_);
    return queue_.empty() ? never : queue_.begin()->first.first;
  }

 private:
  using Key = std::pair<Time, TimerId>;

  Function take(std::map<Key, Function>::iterator place) CORELANE_REQUIRES(mutex_) {
    Function function = std::move(place->second);
    times_.erase(place->first.second);
    queue_.erase(place);
    return function;
  }

  mutable os::PiMutex mutex_;
  std::map<Key, Function> queue_ CORELANE_GUARDED_BY(mutex_);
  std::unordered_map<TimerId, Time> times_ CORELANE_GUARDED_BY(mutex_);
  std::uint64_t last_id_ CORELANE_GUARDED_BY(mutex_) = 0;
};

}  // namespace corelane::transport
