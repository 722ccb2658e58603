// CpuMask is a set of hardware threads in the kernel's format. It is wide enough for every kernel (NR_CPUS <= 8192);
// cpu_set_t ends at 1024.
// Threads: a value type.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>

#include "orb/base/ids.h"

namespace corelane::os {

class CpuMask {
 public:
  static constexpr int limit = 8192;

  bool contains(CoreId core) const noexcept { return in_range(core) && (word(core) & bit(core)) != 0; }
  void add(CoreId core) noexcept {
    if (in_range(core)) word(core) |= bit(core);
  }
  // Returns the only core of the set; nothing if the set is empty or has several.
  std::optional<CoreId> only() const noexcept {
    if (CPU_COUNT_S(native_size, native()) != 1) return std::nullopt;
    std::int16_t core = 0;
    while (!contains(CoreId{core})) ++core;  // bound: limit
    return CoreId{core};
  }
  void remove(CoreId core) noexcept {
    if (in_range(core)) word(core) &= ~bit(core);
  }
  bool is_empty() const noexcept { return *this == CpuMask{}; }
  friend bool operator==(const CpuMask&, const CpuMask&) = default;

  const cpu_set_t* native() const noexcept { return reinterpret_cast<const cpu_set_t*>(words_.data()); }
  cpu_set_t* native() noexcept { return reinterpret_cast<cpu_set_t*>(words_.data()); }
  static constexpr std::size_t native_size = limit / 8;

 private:
  static constexpr int word_bits = 8 * sizeof(unsigned long);
  static constexpr std::size_t words = limit / word_bits;
  static constexpr bool in_range(CoreId core) { return core.value >= 0 && core.value < limit; }
  static constexpr unsigned long bit(CoreId core) { return 1UL << (core.value % word_bits); }
  unsigned long& word(CoreId core) { return words_[static_cast<std::size_t>(core.value / word_bits)]; }
  const unsigned long& word(CoreId core) const { return words_[static_cast<std::size_t>(core.value / word_bits)]; }

  std::array<unsigned long, words> words_{};
};

// Returns the cores that the process may use: the mask of its first thread at the first call of this function. So a
// thread that is bound to one core still gets the process's answer. Empty if the system does not report it.
const CpuMask& process_affinity() noexcept;

}  // namespace corelane::os
