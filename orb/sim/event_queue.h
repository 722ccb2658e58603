// EventQueue holds the events of the Simulator that have not happened yet. They have a total order: their time, their
// class, and the order in which they were scheduled.
//
// Threads: as Simulator. Allocates at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

#include "orb/base/time.h"

namespace corelane::sim {

class EventQueue {
 public:
  // The order of events at one instant. Dispatch comes after all of them.
  enum class Class : std::uint8_t { completion, replenishment, release };
  enum class What : std::uint8_t {
    reach,
    replenished,
    wake,
    timer,
    platform,
    work,
    propose,
    release,
    depart,
    lose,
    lose_peer
  };
  struct Event {
    Time at;
    Class order;
    std::uint64_t sequence;
    What what;
    std::size_t index;  // of the core, the plan or the work
    // The meaning depends on `what`. reach, replenished, timer: the event is valid only while this is the current
    // version. wake: the job. release: the number of the job. lose_peer: the peer.
    std::uint64_t version;
  };

  void schedule(Time at, Class order, What what, std::size_t index, std::uint64_t version) {
    events_.push({at, order, ++sequence_, what, index, version});
  }

  bool empty() const { return events_.empty(); }
  // For a queue that is not empty: return the time of the next event, and remove that event.
  Time next() const { return events_.top().at; }
  Event take() {
    const Event event = events_.top();
    events_.pop();
    return event;
  }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      if (a.at != b.at) return a.at > b.at;
      if (a.order != b.order) return a.order > b.order;
      return a.sequence > b.sequence;
    }
  };

  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t sequence_ = 0;  // of the last event that was scheduled
};

}  // namespace corelane::sim
