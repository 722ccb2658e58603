// Simulates a server that several clients of different priorities share, as the window system of Goel et al. (OSDI
// 2002): with its own low priority, and with the priority of its most urgent client (highest locker).
//
// Four threads share a core. A frame thread of high priority computes, asks the server, and waits for the answer. A
// client of low priority asks the server again and again. A thread of medium priority only computes. The server runs
// one request at a time, in the order of their arrival.
//
// Threads: pure functions. They allocate.
#pragma once

#include <cstdint>

#include "orb/base/time.h"
#include "services/corelane/reproductions/experiment.h"

namespace corelane::tool::reproductions {

inline constexpr Duration frame_period = std::chrono::milliseconds{33};
inline constexpr Duration frame_demand = std::chrono::milliseconds{1};    // before the frame asks the server
inline constexpr Duration request_demand = std::chrono::milliseconds{2};  // of every request at the server
inline constexpr Duration medium_demand = std::chrono::milliseconds{60};  // of the thread of medium priority

struct SharedServerSetup {
  bool is_highest_locker = false;  // otherwise the server has the priority of its least urgent client
  bool has_medium_load = false;
  Duration length{};  // frames that begin until then count, and run to their end
};

struct FrameCounts {
  std::uint64_t frames = 0;
  std::uint64_t late = 0;  // not ready when the next one began
  Duration worst{};        // from the begin of a frame to the server's answer
};

FrameCounts run_shared_server(const SharedServerSetup& setup);

extern const Experiment shared_server;

}  // namespace corelane::tool::reproductions
