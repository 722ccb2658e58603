// `corelane doctor` examines a host, and says what it lacks for real time. The options are defined in
// doctor_command.cpp.
// Threads: those of measure_platform() and probe().
//
// The folder services/corelane/doctor examines a host, with one file for each group of checks.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "services/corelane/doctor/finding.h"
#include "services/corelane/doctor/platform_load.h"
#include "services/corelane/doctor/probe.h"
#include "services/corelane/output/format.h"

namespace corelane::tool {

struct Diagnosis {
  std::vector<Finding> findings{};
  std::vector<CoreLoad> loads{};  // empty: not measured

  std::size_t count(FindingState state) const;
};

// Runs the checks that matter for one of `purposes`. Pure.
std::vector<Finding> examine(const HostView& host, unsigned purposes);

std::string text_of(const Diagnosis& diagnosis, Format format);

struct DoctorOptions {
  unsigned purposes = ~0U;  // of Purpose
  bool measure = false;
  Format format = Format::table;
  ProbedPlaces places{};
  std::vector<std::string> orb_options{};  // the options with which programs look for the naming service
};

// Returns 0 if nothing is missing, 1 if something is. What is unknown does not count as missing.
int doctor(const DoctorOptions& options, std::ostream& out);

}  // namespace corelane::tool
