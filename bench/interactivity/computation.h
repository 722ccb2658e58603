// The computation of the CPU-bound experiment.
#pragma once

#include <cstdint>

namespace interactivity {

// Builds, splits and counts words, moves planets, computes the Mandelbrot set and sorts numbers: `laps` times, about 8
// ms each. Returns a checksum of all results, which is the same in every run of one program. Thread: the calling one.
std::uint64_t compute(unsigned laps);

}  // namespace interactivity
