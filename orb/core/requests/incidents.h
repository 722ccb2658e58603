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

  // In the order of the lines.
  enum class Kind : std::uint8_t {
    oneway_dropped,  // a oneway request was not run. Its client waits for no reply, and so does not learn of it
    client_cut_off,  // a connection was closed because of its client. The client violated the protocol, exceeded a
                     // limit, did not read its replies, or sent half a message
    too_large,       // a message exceeds limits.message_size. Its call was answered with a text: see too_large_text()
    servant_threw,   // see servant_threw()
    request_held,    // a request is the first to wait since its POA manager began to hold
  };

  // Counts an incident. `text` is what its line shows: the operation, empty if it is not known, or the text of
  // too_large; `reason` is for the first two kinds. Returns true if lines() is due.
  bool note(Kind kind, std::string_view text, Time now, const Error& reason = {}) noexcept;
  // Counts an exception that a servant threw. Returns true if lines() is due.
  bool servant_threw(const ServantFailure& failure, Time now) noexcept;

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
    std::string_view view() const noexcept { return {characters.data(), size}; }
  };

  // All incidents of one kind, and what is known of the last one.
  struct Record {
    Count count;
    Text text;
    Error reason{};
  };
  // What one line says.
  struct Due {
    std::uint64_t count = 0;  // since the last line; 0: no line
    std::string text;
    Error reason{};
  };
  static constexpr std::size_t kinds = 5;
  std::uint64_t all_of(Kind kind) const noexcept;
  static std::string line_of(Kind kind, const Due& due);

  mutable os::PiMutex mutex_;
  std::array<Record, kinds> records_ CORELANE_GUARDED_BY(mutex_);  // by kind
};

}  // namespace corelane::core
