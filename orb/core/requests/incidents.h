// Incidents counts what goes wrong on threads that must not write to the log. Another thread logs it: it calls lines(),
// which returns a line for each kind of incident, at most once a second.
//
// Threads: any, real-time ones too, except for lines(). A short lock with priority inheritance, no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/error.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/core/skeleton.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

// An exception that a servant threw and its operation does not declare. Either it is no CORBA exception, and its text
// stays in this process, or a call that the servant made raised it.
struct ServantFailure {
  const Skeleton& skeleton;
  const Upcall& upcall;
  ErrorKind answer;  // what the servant's caller gets
  std::string_view text;
  bool answered = true;  // false: a oneway request, whose caller gets nothing
};

class Incidents {
 public:
  static constexpr Duration quiet = std::chrono::seconds{1};  // between two lines of a kind

  // Counts a oneway request that was not run. Its client waits for no reply, and so does not learn of it. `operation`
  // is empty if it is not known. Returns true if lines() is due.
  bool oneway_dropped(std::string_view operation, const Error& reason, Time now) noexcept;
  // Counts an exception that a servant threw. Returns true if lines() is due.
  bool servant_threw(const ServantFailure& failure, Time now) noexcept;

  // Counts a connection that was closed because of its client. The client violated the protocol, exceeded a limit, did
  // not read its replies, or sent half a message. Returns true if lines() is due.
  bool client_cut_off(const Error& reason, Time now) noexcept;

  // Counts a message that exceeds limits.message_size. Its call was answered with `text`, see too_large_text(). Returns
  // true if lines() is due.
  bool too_large(std::string_view text, Time now) noexcept;

  // Counts a request that is the first to wait since its POA manager began to hold. Returns true if lines() is due.
  bool request_held(std::string_view operation, Time now) noexcept;

  std::uint64_t dropped_oneways() const noexcept;
  std::uint64_t cut_off_clients() const noexcept;

  // Returns the line for `count` requests that were held, the last of them for this operation.
  static std::string held_line(const std::string& operation, std::uint64_t count);
  // Returns the lines for the log about what was not logged yet.
  std::vector<std::string> lines(Time now);

 private:
  // Counts the incidents of one kind: all of them, those already logged, and when that was.
  struct Count {
    std::uint64_t all = 0;
    std::uint64_t told = 0;
    Time told_at = Time::min();

    bool add(Time now) noexcept;
    std::uint64_t take(Time now) noexcept;  // returns the number since the last time
  };
  static constexpr std::size_t longest_text = 240;
  struct Text {
    std::array<char, longest_text> characters{};
    std::size_t size = 0;

    void add(std::string_view part) noexcept;  // as much of it as fits
  };

  mutable os::PiMutex mutex_;
  Count dropped_ CORELANE_GUARDED_BY(mutex_);
  Count thrown_ CORELANE_GUARDED_BY(mutex_);
  Count cut_off_ CORELANE_GUARDED_BY(mutex_);
  Count held_ CORELANE_GUARDED_BY(mutex_);
  Count large_ CORELANE_GUARDED_BY(mutex_);
  Error reason_ CORELANE_GUARDED_BY(mutex_){};          // of the last oneway
  Error cut_off_reason_ CORELANE_GUARDED_BY(mutex_){};  // of the last client
  Text large_text_ CORELANE_GUARDED_BY(mutex_);         // about the last message
  Text dropped_text_ CORELANE_GUARDED_BY(mutex_);       // the last oneway's operation; empty: not known
  // Of the last servant: what its client gets, operation, what it threw.
  Text text_ CORELANE_GUARDED_BY(mutex_);
  Text waiting_ CORELANE_GUARDED_BY(mutex_);  // the last operation that is held
};

}  // namespace corelane::core
