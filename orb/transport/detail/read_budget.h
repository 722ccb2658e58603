// ReadBudget: how much a reactor's thread may run for moving bytes: reading them, and sending what waits in backlogs.
// It stands above all tasks and does so for everybody, so without a bound a flood of requests, or of replies, would
// delay tasks that have nothing to do with it. Three servers share the bound:
//
//   strangers    half of it: connections over which no task was asked for yet, and accepting them
//   tasks        the other half: connections with requests for tasks; strangers cannot take it away
//   a connection with tasks    at most half of that, so that one that floods leaves the others their share
//
// They are sporadic servers. A server that inherits its caller's priority (PIBS) would delay the others less, but a
// single thread cannot be lowered for one caller's sake without all others waiting for it: so reading is done above all
// tasks, within a budget that admission knows, or not now.
//
// Threads: owned by the reactor's. No clock, no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "orb/sched/server_driver.h"

namespace corelane::transport {

enum class ReadPayer : std::uint8_t { strangers, tasks };

// Of one connection.
struct ReadAccount {
  ReadPayer payer = ReadPayer::strangers;
  std::optional<sched::ServerDriver> own{};  // from the first read for tasks on
};

class ReadBudget {
 public:
  // `all` is sound, and its budget at least 4 ns.
  explicit ReadBudget(const sched::Reservation& all) noexcept;

  // When the connection may be read: `now`, or later.
  Time readable_at(Time now, ReadAccount& account) noexcept;
  // When any connection of that kind may be read.
  Time readable_at(Time now, ReadPayer payer) noexcept;
  // The thread has used this for it, until now.
  void charge(Time now, Duration used, ReadAccount& account) noexcept;

 private:
  sched::ServerDriver& of(ReadPayer payer) noexcept { return kinds_[static_cast<std::size_t>(payer)]; }

  const sched::Reservation one_;  // of a connection with tasks
  std::array<sched::ServerDriver, 2> kinds_;
};

}  // namespace corelane::transport
