// Quiet: while it lives the program logs nothing, in tests that make on purpose what it would complain of.
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
