// ReservationWire: a client of corelane-reserved (services/reserved/idl/reservation.idl) below the ORB, for the
// process's own cores: a socket, requests one at a time, answers when they come. It waits only where it says so.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/cdr/writer.h"
#include "orb/os/fd.h"

namespace corelane::core {

class ReservationWire {
 public:
  // Of the calling process.
  struct Held {
    std::uint64_t id = 0;
    std::vector<CoreId> cores{};
    bool anew =
        false;  // granted to this process; else it was started on them, and they stay with whoever reserved them
  };
  struct Answer {
    std::optional<Held> held{};  // what the process has; nothing: it has none
    std::string why{};           // not: the server's reason
    bool decided = false;        // not, and the server says so: neither a fault of its nor one of the connection
  };
  enum class State : std::uint8_t { waiting, answered, closed };

  // Connects to the socket at the path, of root or of this process's user; what prevents it as text.
  static Expected<ReservationWire, std::string> connect(const std::string& path);

  // At most one request is under way. False: the connection has ended. Where the process was started on reserved cores
  // the answer is all of those.
  bool ask_for(std::uint16_t count, const std::vector<CoreId>& these);
  bool look_at(std::uint64_t id);
  // No answer comes.
  void release(std::uint64_t id);

  bool is_waiting() const noexcept { return waiting_; }
  // Takes what has come. `patience`: how long it waits for the rest; zero: not at all.
  State poll(Answer& answer, Duration patience = {});

 private:
  explicit ReservationWire(os::Fd socket) : socket_(std::move(socket)) {}
  void begin(cdr::Writer& writer, std::string_view operation, bool answers);
  bool send(cdr::Writer& writer);
  bool receive(Time deadline);
  std::optional<Answer> take_answer();

  os::Fd socket_;
  std::uint32_t next_id_ = 1;
  bool waiting_ = false;
  bool asks_for_own_ = false;  // the request under way
  std::vector<std::byte> input_{};
};

}  // namespace corelane::core
