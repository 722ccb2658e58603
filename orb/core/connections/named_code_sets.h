// NamedCodeSets remembers which code sets the requests over a client's connection have named.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "orb/giop/code_sets.h"

namespace corelane::core {

class NamedCodeSets {
 public:
  // Returns nothing if no request has named any.
  std::optional<giop::CodeSetChoice> get() const noexcept {
    const std::uint64_t sets = sets_.load(std::memory_order_relaxed);  // relaxed: the server has read it
    if (sets == 0) return std::nullopt;
    return giop::CodeSetChoice{static_cast<std::uint32_t>(sets >> 32), static_cast<std::uint32_t>(sets)};
  }
  // Notes that a request which named these code sets was answered, or is on its way ahead of all later ones.
  void set(const giop::CodeSetChoice& choice) noexcept {
    // relaxed: as in get()
    sets_.store(std::uint64_t{choice.for_char} << 32 | choice.for_wchar, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> sets_{0};  // for char, then for wchar
};

}  // namespace corelane::core
