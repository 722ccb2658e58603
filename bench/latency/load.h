// What one client does: warm up, then make calls and note how long each took. Shared by all clients of this benchmark,
// so that rows differ in nothing but the call itself. Thread: the client's only one.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace latency {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

struct Load {
  std::size_t warm_up = 0;
  std::size_t calls = 0;
  Nanoseconds interval{};  // between intended starts; 0: the next call follows the last (closed loop)
};

// The load of a client's command line: ADDRESS WARM-UP CALLS INTERVAL-IN-NS.
inline Load load_of(char** argv) { return {std::stoul(argv[2]), std::stoul(argv[3]), Nanoseconds{std::stol(argv[4])}}; }

// Nanoseconds of each call. In an open loop a call counts from when it was due, so that a stall is charged to every
// call it delayed and not to one (coordinated omission); the client spins until then.
template <typename Call>
std::vector<std::uint64_t> measure(const Load& load, Call&& call) {
  for (std::size_t i = 0; i < load.warm_up; ++i) call(static_cast<std::int64_t>(i));
  std::vector<std::uint64_t> samples;
  samples.reserve(load.calls);
  Clock::time_point due = Clock::now();
  for (std::size_t i = 0; i < load.calls; ++i) {
    if (load.interval == Nanoseconds::zero()) {
      due = Clock::now();
    } else {
      due += load.interval;
      while (Clock::now() < due) {
      }
    }
    call(static_cast<std::int64_t>(i));
    samples.push_back(static_cast<std::uint64_t>(Nanoseconds{Clock::now() - due}.count()));
  }
  return samples;
}

// Hands the samples to the driver, as they lie in memory. False when the driver is gone.
inline bool report(std::span<const std::uint64_t> samples) {
  auto bytes = std::as_bytes(samples);
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

// Tells the driver where the server listens.
inline void announce(const std::string& address) {
  std::printf("READY %s\n", address.c_str());
  std::fflush(stdout);
}

// The answer has to be right: a fast wrong one is no row.
inline void check(std::int64_t sent, std::int64_t got) {
  if (sent == got) return;
  std::fprintf(stderr, "sent %ld, got %ld back\n", static_cast<long>(sent), static_cast<long>(got));
  std::exit(1);
}

}  // namespace latency
