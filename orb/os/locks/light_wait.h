// Waits for a change of a word in a state in which the core needs less power than in a spin, and leaves more of the
// physical core to its other hardware thread (x86: UMONITOR and UMWAIT; Intel, Software Developer's Manual, volume 2).
// Threads: any.
//
// The folder orb/os/locks has locks that scale with the number of cores.
#pragma once

#include <atomic>
#include <cstdint>

namespace corelane::os {

// Returns whether the processor can do so for programs (CPUID.7.0:ECX[5]). The answer never changes.
bool can_wait_lightly() noexcept;

// Waits until another core writes to the word's cache line, if the word has the value. Returns after 20,000 cycles of
// the time stamp counter at the latest, and for any other reason that the processor has. Call it only if
// can_wait_lightly().
void wait_lightly(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;

}  // namespace corelane::os
