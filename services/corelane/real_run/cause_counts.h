// CauseCounts is how many jobs were late, by cause.
// Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "orb/base/text/counted.h"
#include "orb/eval/run.h"

namespace corelane::tool {

class CauseCounts {
 public:
  void add(std::span<const eval::JobRecord> misses) {
    for (const eval::JobRecord& miss : misses) ++counts_[static_cast<std::size_t>(miss.cause)];
  }

  std::uint64_t of(eval::MissCause cause) const { return counts_[static_cast<std::size_t>(cause)]; }
  std::uint64_t all() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts_) sum += count;
    return sum;
  }

  // Returns "3 misses: scheduling 1, overrun 0, host 2, unknown 0".
  std::string text() const {
    using eval::MissCause;
    return counted(all(), "miss", "misses") + ": scheduling " + std::to_string(of(MissCause::scheduling)) +
           ", overrun " + std::to_string(of(MissCause::overrun)) + ", host " + std::to_string(of(MissCause::host)) +
           ", unknown " + std::to_string(of(MissCause::unknown));
  }

 private:
  std::array<std::uint64_t, 4> counts_{};  // by cause
};

}  // namespace corelane::tool
