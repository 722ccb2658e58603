// Runs `corelane measure` for a test.
#pragma once

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "services/corelane/measure/measure.h"

namespace corelane::testing {

struct Measured {
  int status;
  std::string out, err;
};

inline Measured run_measure(const tool::MeasureOptions& options) {
  std::ostringstream out, err;
  const int status = tool::measure(options, out, err);
  return {status, out.str(), err.str()};
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace corelane::testing
