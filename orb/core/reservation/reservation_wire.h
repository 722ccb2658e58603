// ReservationWire is a client of the daemon corelane-reserved (services/reserved/idl/reservation.idl). It works without
// an ORB, because it gets the process's own cores. It uses one socket and has one request under way at a time. It
// blocks only where the comments say so.
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
  // The calling process's reservation.
  struct Held {
    std::uint64_t id = 0;
    std::vector<CoreId> cores{};
    bool anew = false;  // true: granted to this process. false: the process was started on the cores, and they stay
                        // with the process that reserved them
  };
  struct Answer {
    std::optional<Held> held{};  // the process's reservation; nothing: it has none
    std::string why{};           // without `held`: the server's reason
    bool decided = false;  // without `held`: the server refused, so neither the server nor the connection has failed
  };
  enum class State : std::uint8_t { waiting, answered, closed };

  // Connects to the socket at `path`. Its server must run as root or as this process's user. An error is a text that
  // says the cause.
  static Expected<ReservationWire, std::string> connect(const std::string& path);

  // Both send a request. At most one request is under way. They return false if the connection has ended. If the
  // process was started on reserved cores, the answer to ask_for() is all of those.
  bool ask_for(std::uint16_t count, const std::vector<CoreId>& these);
  bool look_at(std::uint64_t id);
  // Sends a request that has no answer.
  void release(std::uint64_t id);

  bool is_waiting() const noexcept { return waiting_; }
  // Reads what has arrived. Waits for the rest for `patience` at most; zero: not at all.
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
  bool asks_for_own_ = false;  // the request under way is own_cores
  std::vector<std::byte> input_{};
};

}  // namespace corelane::core
