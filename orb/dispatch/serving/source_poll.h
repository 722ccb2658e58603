// SourcePoll is the epoll set of the connections that no thread serves or watches now. It also knows when the first of
// them expires (RequestSource::expires_at()).
//
// Threads: any; wait() one at a time. No lock: the kernel orders the changes of an epoll set. A source stays in the set
// from add() to remove().
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/dispatch/serving/request_source.h"
#include "orb/os/fd.h"

namespace corelane::dispatch {

class SourcePoll {
 public:
  // Errors: NO_RESOURCES no_descriptor.
  Expected<void> open() noexcept;

  // Takes the source into the set, and watches for nothing yet. False: the system refuses it.
  bool add(RequestSource& source) noexcept;
  void remove(const RequestSource& source) noexcept;
  // Makes wait() report once when bytes come, or when the peer ends the connection. `descriptor`: the source's. The
  // source itself is not touched.
  void watch_bytes(RequestSource* source, int descriptor) noexcept;
  // Makes wait() report once when the peer of a blocked connection ends it.
  void watch_end(RequestSource& source) noexcept;

  // Waits for events, until the first connection expires at the latest. Does not wait if `may_sleep` is false. Returns
  // the events.
  std::span<epoll_event> wait(std::span<epoll_event> events, bool may_sleep) noexcept;
  // Returns which source an event is about. The source may have ended. Null: none, wait() was woken by ring().
  static const RequestSource* source_of(const epoll_event& event) noexcept {
    return static_cast<const RequestSource*>(event.data.ptr);
  }
  // Wakes wait(), until quiet().
  void ring() noexcept;
  void quiet() noexcept;

  // Notes when a connection expires. Wakes wait() if that is earlier than what it knows.
  void note_expiry(Time at) noexcept;
  // Returns whether that time has come. If so, it is forgotten: the caller looks at the connections, and notes the next
  // one. Thread: the one that waits next.
  bool take_expiry(Time now) noexcept;

 private:
  os::Fd poll_;
  os::Fd bell_;
  std::atomic<std::int64_t> next_expiry_{never.time_since_epoch().count()};  // ns
};

}  // namespace corelane::dispatch
