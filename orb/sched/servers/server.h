// Server is any one of the servers, for code that drives them without a distinction (orb/dispatch with a clock, orb/sim
// without one). reservation.h explains the five functions.
//
// The folder orb/sched/servers has the servers that give a part of a core to work without a contract.
#pragma once

#include <variant>

#include "orb/sched/servers/constant_bandwidth_server.h"
#include "orb/sched/servers/deferrable_server.h"
#include "orb/sched/servers/io_server.h"
#include "orb/sched/servers/sporadic_server.h"

namespace corelane::sched {

using Server = std::variant<SporadicServer, DeferrableServer, IoServer, ConstantBandwidthServer>;

inline void wake(Server& server, Time now) noexcept {
  std::visit(
      [&](auto& s) {
        if constexpr (requires { s.wake(now); }) s.wake(now);
      },
      server);
}

inline void charge(Server& server, Time now, Duration used) noexcept {
  std::visit([&](auto& s) { s.charge(now, used); }, server);
}

inline void block(Server& server, Time now) noexcept {
  std::visit(
      [&](auto& s) {
        if constexpr (requires { s.block(now); }) s.block(now);
      },
      server);
}

inline Duration available(const Server& server, Time now) noexcept {
  return std::visit([&](const auto& s) { return s.available(now); }, server);
}

inline Time next(const Server& server, Time now) noexcept {
  return std::visit([&](const auto& s) { return s.next(now); }, server);
}

}  // namespace corelane::sched
