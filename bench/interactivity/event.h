// An event on its way from the I/O service to the editor, the editor's notes, and the possible ways.
// Threads: values; Notebook: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/time.h"
#include "orb/os/clock.h"

namespace interactivity {

enum class Way : std::uint8_t { socket, channel, orb_unix, orb_tcp, orb_channel };

struct Event {
  std::int64_t due = 0;   // CLOCK_MONOTONIC in ns: when the key was pressed
  std::int64_t sent = 0;  // when the service sent it, just before the call
  std::uint32_t key = 0;
  std::uint32_t padding = 0;
};

inline std::int64_t stamp(corelane::Time time) { return time.time_since_epoch().count(); }

// Records how late events came, in ns: first since they were sent, for all events; then since they were due.
class Notebook {
 public:
  Notebook(std::size_t warm_up, std::size_t events) : left_(warm_up), events_(events) {
    since_sent_.reserve(events);
    since_due_.reserve(events);
  }
  bool is_full() const { return since_sent_.size() == events_; }
  void note(const Event& event) {
    const std::int64_t now = stamp(corelane::os::now());
    if (left_ > 0) return void(--left_);
    since_sent_.push_back(static_cast<std::uint64_t>(now - event.sent));
    since_due_.push_back(static_cast<std::uint64_t>(now - event.due));
  }
  std::vector<std::uint64_t> all() const {
    std::vector<std::uint64_t> both = since_sent_;
    both.insert(both.end(), since_due_.begin(), since_due_.end());
    return both;
  }

 private:
  std::size_t left_, events_;
  std::vector<std::uint64_t> since_sent_, since_due_;
};

// Sends an event. Blocks no longer than a send does. Ends the process when the editor has ended.
using Sender = std::function<void(const Event&)>;

struct Route {
  Way way = Way::socket;
  std::string directory;  // for sockets
  bool fifo = false;      // the threads of both ends use SCHED_FIFO if the way allows it
};

using Ready = std::function<void(const std::string& address)>;

// The editor: reports where it listens, and takes events until the notebook is full. Raises std::exception if it
// cannot.
void edit_plainly(const Route& route, Notebook& notebook, const Ready& ready);
void edit_by_orb(const Route& route, Notebook& notebook, const Ready& ready);

// The service's way to the editor.
Sender send_plainly(const Route& route, const std::string& address);
Sender send_by_orb(const Route& route, const std::string& address);

inline bool is_plain(Way way) { return way == Way::socket || way == Way::channel; }

}  // namespace interactivity
