// The computation of the CPU-bound experiment.
#pragma once

#include <cstdint>

namespace interactivity {

// Words built, split and counted; planets and the Mandelbrot set; numbers sorted: `laps` times, about 8 ms each.
// Returns what came out of all of it, which is the same in every run of one program. Thread: the calling one.
std::uint64_t compute(unsigned laps);

}  // namespace interactivity
