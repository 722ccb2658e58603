// Durations as numbers to print.
#pragma once

#include <chrono>
#include <ratio>

#include "orb/base/time.h"

namespace servers {

inline double microseconds(corelane::Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}
inline double milliseconds(corelane::Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace servers
