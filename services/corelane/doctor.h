// What `corelane doctor` does, apart from its options: looks at a host, and says what real time lacks there.
// Threads: those of measure_platform() and probe().
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "services/corelane/finding.h"
#include "services/corelane/format.h"
#include "services/corelane/platform_load.h"
#include "services/corelane/probe.h"

namespace corelane::tool {

struct Diagnosis {
  std::vector<Finding> findings{};
  std::vector<CoreLoad> loads{};  // empty: not measured

  std::size_t count(FindingState state) const;
};

// The checks that matter for one of `purposes`. Pure.
std::vector<Finding> examine(const HostView& host, unsigned purposes);

std::string text_of(const Diagnosis& diagnosis, Format format);

struct DoctorOptions {
  unsigned purposes = ~0U;  // of Purpose
  bool measure = false;
  Format format = Format::table;
  ProbedPlaces places{};
  std::vector<std::string> orb_options{};  // with which programs look for the naming service
};

// 0: nothing is missing, 1: something is. What is unknown is not missing.
int doctor(const DoctorOptions& options, std::ostream& out);

}  // namespace corelane::tool
