// Draws curves of speed-up over cores as one HTML page, which needs no other file.
// Threads: pure. Allocates.
#pragma once

#include <string>
#include <vector>

#include "orb/scale/throughput_curve.h"

namespace corelane::tool {

struct PlottedCurve {
  std::string name{};
  std::vector<scale::SpeedUp> points{};  // ascending by cores
};

// Returns a page with the title, one diagram of all curves beside the ideal speed-up (n on n cores), and one table for
// each curve.
std::string html_of(const std::string& title, const std::vector<PlottedCurve>& curves);

}  // namespace corelane::tool
