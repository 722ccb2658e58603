// Incidents: what goes wrong on threads that must not write to the log. It is counted there and then, and told by
// whoever is asked to, a line for each kind and at most one line a second.
//
// Threads: any, real-time ones too: a short lock with priority inheritance, no allocation. lines() not on those.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/error.h"
#include "orb/base/time.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

class Incidents {
 public:
  static constexpr Duration quiet = std::chrono::seconds{1};  // between two lines of a kind

  // A oneway request that was not run: nobody waits for an answer. True: lines() is due.
  bool oneway_dropped(const Error& reason, Time now) noexcept;
  // A servant threw what its operation does not declare: no exception of CORBA's, whose text stays in this process, or
  // one of a call that it made. `answer`: what its caller gets. True: lines() is due.
  bool servant_threw(std::string_view operation, ErrorKind answer, std::string_view text, Time now) noexcept;

  // A connection was closed for what its client did or left undone: spoke against the protocol, exceeded a limit, did
  // not read its replies, sent half a message. True: lines() is due.
  bool client_cut_off(const Error& reason, Time now) noexcept;

  // A message exceeds limits.message_size, and its call was answered with `text`, too_large_text(). True: lines() is
  // due.
  bool too_large(std::string_view text, Time now) noexcept;

  // A POA manager holds requests, and this one is the first that waits for it. True: lines() is due.
  bool request_held(std::string_view operation, Time now) noexcept;

  std::uint64_t dropped_oneways() const noexcept;
  std::uint64_t cut_off_clients() const noexcept;

  // Of so many requests that were held, the last for this operation.
  static std::string held_line(const std::string& operation, std::uint64_t count);
  // What was not told yet, for the log.
  std::vector<std::string> lines(Time now);

 private:
  // How often, and how much of it was told when.
  struct Count {
    std::uint64_t all = 0;
    std::uint64_t told = 0;
    Time told_at = Time::min();

    bool add(Time now) noexcept;
    std::uint64_t take(Time now) noexcept;  // since the last time
  };
  static constexpr std::size_t longest_text = 240;
  struct Text {
    std::array<char, longest_text> characters{};
    std::size_t size = 0;

    void add(std::string_view part) noexcept;  // as much of it as fits
  };

  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  Count dropped_, thrown_, cut_off_, held_, large_;
  Error reason_{};          // of the last oneway
  Error cut_off_reason_{};  // of the last client
  Text large_text_;         // about the last message
  Text text_;               // of the last servant: "operation: what it threw"
  Text waiting_;            // the last operation that is held
};

}  // namespace corelane::core
