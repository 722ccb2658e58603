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

  // Notes that so many more runs than before are to do.
  void expect(std::uint64_t more) { runs_ += more; }

  // Notes that so many more runs are done. Returns a line without its end: "1200 of 30000 runs, about 40 s left".
  std::string after(std::uint64_t more, Time now);

 private:
  std::uint64_t runs_;
  const Time start_;
  std::uint64_t done_ = 0;
};

}  // namespace corelane::tool
