// What one client does: warm up, then make calls and note how long each took. Shared by all clients of this benchmark,
// so that rows differ in nothing but the call itself. Thread: the client's only one.
#pragma once

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <system_error>
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

// A whole number of a command line; ends the program with 2 where the word is none.
inline std::uint64_t number_of(const char* what, const std::string& word, std::uint64_t most = 1'000'000'000'000) {
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (fault == std::errc{} && end == word.data() + word.size() && number <= most) return number;
  std::fprintf(stderr, "%s is a whole number up to %llu, not '%s'\n", what, static_cast<unsigned long long>(most),
               word.c_str());
  std::exit(2);
}

// The load of a client's command line: ADDRESS WARM-UP CALLS INTERVAL-IN-NS.
inline Load load_of(char** argv) {
  return {number_of("WARM-UP", argv[2]), number_of("CALLS", argv[3]),
          Nanoseconds{static_cast<std::int64_t>(number_of("INTERVAL", argv[4]))}};
}

inline int usage(const char* program, const char* words) {
  std::fprintf(stderr, "usage: %s %s\n", program, words);
  return 2;
}

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
