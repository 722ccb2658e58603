// ReadBudget limits how long a reactor's thread may run to move bytes. That thread has a higher priority than all
// tasks, and works for every connection that it reads. Without a bound, a flood would delay tasks that have nothing to
// do with it.
//
// It limits one of two things:
//
//   ReadLimit::everything   what is read, and what is sent from backlogs. Three servers share the bound:
//     without_tasks    half of it: connections over which no request for a task has come yet, and accepting them
//     with_tasks       the other half: connections with requests for tasks; no other connection can use it
//     a connection with tasks    at most half of that, so that one that floods leaves the others their share
//   ReadLimit::unforeseen   reading what no contract foresees. The reader of a connection reports that for each message
//     (Connection::charge_message()). One server has the whole bound. A connection that has sent only foreseen messages
//     is read at once. What it sends beyond its contracts is charged afterwards: it is not read again before the budget
//     is back. The pieces of a message count once the message is known. Bytes beyond 64 KiB count in any case, unless
//     an earlier foreseen message was as long, up to 1 MiB.
//
// For ReadLimit::everything the servers are of the kind that the owner chooses (sched::ReaderServer), otherwise they
// are sporadic. An I/O server keeps its rule of budgets, but not the priority of a caller: a single thread cannot be
// lowered for one caller without making all others wait for it. So reading is done above all tasks, within a budget
// that admission knows, or it waits.
//
// Threads: the reactor's. No clock, no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "orb/base/ids.h"
#include "orb/sched/servers/reader_server.h"
#include "orb/sched/servers/server_driver.h"

namespace corelane::transport {

enum class ReadLimit : std::uint8_t { everything, unforeseen };
enum class ReadShare : std::uint8_t { without_tasks, with_tasks };

// The account of one connection.
struct ReadAccount {
  ReadShare share = ReadShare::without_tasks;
  std::optional<sched::ServerDriver> own{};  // made at the first read for tasks
  PeerId peer{};                             // waiting connections are read in turn, one peer after the other
  // With ReadLimit::unforeseen:
  bool waits_for_budget = false;  // its last turn contained something unforeseen
  Duration undecided{};           // time used for the current message
  std::size_t undecided_bytes = 0;
  std::size_t longest_foreseen = 0;  // bytes of the longest foreseen message since the last unforeseen one
};

// What one turn read.
struct ReadTurn {
  std::size_t bytes = 0;
  bool messages = false;    // at least one became complete
  bool unforeseen = false;  // at least one of them is, or the connection has ended
};

class ReadBudget {
 public:
  // A message of so many bytes may belong to a task. It costs nothing before that is known.
  static constexpr std::size_t undecided_at_most = 64 * 1024;
  // The same limit if the connection has sent messages of that length for its tasks.
  static constexpr std::size_t longest_expected = 1024 * 1024;
  // The most that one turn may cost, in budgets. If a turn took longer, the host of a virtual machine took that time.
  static constexpr int longest_turn = 100;

  // `all` is sound, its budget is at least 4 ns, and sched::can_serve_reader() is true. With ReadLimit::unforeseen the
  // kind is sporadic.
  explicit ReadBudget(const sched::Reservation& all, ReadLimit limit = ReadLimit::everything,
                      sched::ReaderServer kind = sched::ReaderServer::sporadic) noexcept;

  ReadLimit limit() const noexcept { return limit_; }
  // Returns whether the connection need not wait for the budget.
  bool is_exempt(const ReadAccount& account) const noexcept {
    return limit_ == ReadLimit::unforeseen && !account.waits_for_budget;
  }
  // Returns which part of the budget the connection uses.
  ReadShare share_of(const ReadAccount& account) const noexcept {
    return limit_ == ReadLimit::unforeseen ? ReadShare::without_tasks : account.share;
  }
  // Returns when the connection may be read: `now`, or later.
  Time readable_at(Time now, ReadAccount& account) noexcept;
  // Returns when any connection of that kind may be read.
  Time readable_at(Time now, ReadShare share) noexcept;
  // Charges the time that the thread has used for the connection until now.
  void charge(Time now, Duration used, ReadAccount& account, const ReadTurn& turn = {}) noexcept;

 private:
  sched::ServerDriver driver_of(const sched::Reservation& part, std::size_t chunks) const noexcept;
  Time readable(sched::ServerDriver& driver, Time now) const noexcept;
  sched::ServerDriver& of(ReadShare share) noexcept { return kinds_[static_cast<std::size_t>(share)]; }
  static bool is_too_long(const ReadAccount& account) noexcept;
  void charge_unforeseen(Time now, Duration used, ReadAccount& account, const ReadTurn& turn) noexcept;

  const ReadLimit limit_;
  const sched::ReaderServer kind_;
  const sched::IoCaller everybody_;  // for an I/O server: the reader has one period and one priority for all callers
  const sched::Reservation all_;
  const sched::Reservation one_;  // for one connection with tasks
  std::array<sched::ServerDriver, 2> kinds_;
};

}  // namespace corelane::transport
