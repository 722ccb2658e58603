// Progress says how far an experiment is, and how long the rest takes.
// Threads: one.
#pragma once

#include <cstdint>
#include <string>

#include "orb/base/time.h"

namespace corelane::tool {

class Progress {
 public:
  Progress(std::uint64_t runs, Time start) : runs_(runs), start_(start) {}

  // Notes that so many more runs are done. Returns a line without its end: "1200 of 30000 runs, about 40 s left".
  std::string after(std::uint64_t more, Time now);

 private:
  const std::uint64_t runs_;
  const Time start_;
  std::uint64_t done_ = 0;
};

}  // namespace corelane::tool
