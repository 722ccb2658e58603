// While a JumpingClock lives, programs that are started see a date that jumps (jumping_clock.cpp).
#pragma once

#include <stdlib.h>

#include <ctime>
#include <string>

#include "orb/os/process/child_process.h"

namespace corelane::testing {

class JumpingClock {
 public:
  explicit JumpingClock(const std::string& library = library_path()) { setenv("LD_PRELOAD", library.c_str(), 1); }
  ~JumpingClock() { unsetenv("LD_PRELOAD"); }
  JumpingClock(const JumpingClock&) = delete;
  JumpingClock& operator=(const JumpingClock&) = delete;

  static std::string library_path() { return os::program_beside("corelane_jumping_clock.so"); }
  // Returns whether programs see it: a loader may ignore the library.
  static bool works() {
    os::ChildProcess date({"date", "+%s"});
    const long seen = std::stol(date.read_line().value_or("0"));
    constexpr long a_year = 365L * 24 * 3600;
    return std::labs(seen - std::time(nullptr)) > a_year;
  }
};

}  // namespace corelane::testing
