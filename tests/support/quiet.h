// While a Quiet lives, the program logs nothing. For tests that provoke what it would report.
#pragma once

#include "orb/os/log.h"

namespace corelane::testing {

class Quiet {
 public:
  Quiet() { os::log::set_level(os::log::Level::off); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() { os::log::set_level(os::log::Level::info); }
};

}  // namespace corelane::testing
