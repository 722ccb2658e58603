// ReadBudget: how much a reactor's thread may run for moving bytes. That thread stands above all tasks and works for
// every connection that it reads, so without a bound a flood would delay tasks that have nothing to do with it.
//
// It limits one of two things:
//
//   ReadLimit::everything   what is read, and what is sent from backlogs. Three servers share the bound:
//     strangers    half of it: connections over which no task was asked for yet, and accepting them
//     tasks        the other half: connections with requests for tasks; strangers cannot take it away
//     a connection with tasks    at most half of that, so that one that floods leaves the others their share
//   ReadLimit::unforeseen   reading what no contract foresees: the reader of a connection says so of each message
//     (Connection::charge_message()). One server has the whole bound. A connection that was in good order until now is
//     read at once, and what it sends beyond its contracts is paid afterwards: it is not read again before the budget
//     is back. The pieces of a message count once the message is known. What it has beyond 64 KiB counts in any case,
//     but where a foreseen message before was as long, up to 1 MiB.
//
// The servers are sporadic ones. A server that inherits its caller's priority (PIBS) would delay the others less, but a
// single thread cannot be lowered for one caller's sake without all others waiting for it: so reading is done above all
// tasks, within a budget that admission knows, or not now.
//
// Threads: owned by the reactor's. No clock, no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "orb/base/ids.h"
#include "orb/sched/server_driver.h"

namespace corelane::transport {

enum class ReadLimit : std::uint8_t { everything, unforeseen };
enum class ReadPayer : std::uint8_t { strangers, tasks };

// Of one connection.
struct ReadAccount {
  ReadPayer payer = ReadPayer::strangers;
  std::optional<sched::ServerDriver> own{};  // from the first read for tasks on
  PeerId peer{};                             // what waits is read in turn, a peer after the other
  // With ReadLimit::unforeseen:
  bool owes = false;     // its last turn held something unforeseen
  Duration undecided{};  // used for the message under way
  std::size_t undecided_bytes = 0;
  std::size_t longest_foreseen = 0;  // message since the last unforeseen one
};

// What one turn read.
struct ReadTurn {
  std::size_t bytes = 0;
  bool messages = false;    // at least one became whole
  bool unforeseen = false;  // one of them at least, or the connection has ended
};

class ReadBudget {
 public:
  // A message of so many bytes may belong to a task, and costs nothing before that is known.
  static constexpr std::size_t undecided_at_most = 64 * 1024;
  // The same where the connection has sent as long ones for its tasks.
  static constexpr std::size_t longest_expected = 1024 * 1024;
  // The most that one turn may cost, in budgets: what was longer the host took, on a machine that is virtual.
  static constexpr int longest_turn = 100;

  // `all` is sound, and its budget at least 4 ns.
  explicit ReadBudget(const sched::Reservation& all, ReadLimit limit = ReadLimit::everything) noexcept;

  ReadLimit limit() const noexcept { return limit_; }
  // Whether the connection need not wait for the budget.
  bool is_exempt(const ReadAccount& account) const noexcept { return limit_ == ReadLimit::unforeseen && !account.owes; }
  // Whose part of the budget it is that the connection uses.
  ReadPayer payer_of(const ReadAccount& account) const noexcept {
    return limit_ == ReadLimit::unforeseen ? ReadPayer::strangers : account.payer;
  }
  // When the connection may be read: `now`, or later.
  Time readable_at(Time now, ReadAccount& account) noexcept;
  // When any connection of that kind may be read.
  Time readable_at(Time now, ReadPayer payer) noexcept;
  // The thread has used this for it, until now.
  void charge(Time now, Duration used, ReadAccount& account, const ReadTurn& turn = {}) noexcept;

 private:
  sched::ServerDriver& of(ReadPayer payer) noexcept { return kinds_[static_cast<std::size_t>(payer)]; }
  static bool is_too_long(const ReadAccount& account) noexcept;
  void charge_unforeseen(Time now, Duration used, ReadAccount& account, const ReadTurn& turn) noexcept;

  const ReadLimit limit_;
  const sched::Reservation all_;
  const sched::Reservation one_;  // of a connection with tasks
  std::array<sched::ServerDriver, 2> kinds_;
};

}  // namespace corelane::transport
