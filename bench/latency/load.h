// The load of one client: it warms up, then makes calls and records how long each took. All clients of this benchmark
// share it, so that rows differ only in the call itself.
// Thread: the client's only one.
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
  Nanoseconds interval{};  // between intended starts; 0: each call follows the previous one (closed loop)
};

// Returns a whole number of a command line; ends the program with 2 if the word is none.
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

// Returns the nanoseconds of each call. In an open loop a call counts from the time when it was due. So a stall counts
// for every call that it delayed, and not only for one (coordinated omission). The client spins until the call is due.
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

// Writes the samples to the driver, in their memory layout. Returns false if the driver has ended.
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

// Checks the answer. A wrong answer ends the program: a fast wrong answer must not make a row.
inline void check(std::int64_t sent, std::int64_t got) {
  if (sent == got) return;
  std::fprintf(stderr, "sent %ld, got %ld back\n", static_cast<long>(sent), static_cast<long>(got));
  std::exit(1);
}

}  // namespace latency
