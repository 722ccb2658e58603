// `corelane doctor` examines a host, and says what it lacks for real time. The options are defined in
// doctor_command.cpp.
// Threads: those of measure_platform(), measure_host() and probe().
//
// The folder services/corelane/doctor examines a host, with one file for each group of checks.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "orb/eval/host_card/host_card.h"
#include "services/corelane/doctor/finding.h"
#include "services/corelane/doctor/platform_load.h"
#include "services/corelane/doctor/probe.h"
#include "services/corelane/output/format.h"

namespace corelane::tool {

struct Diagnosis {
  std::vector<Finding> findings{};
  std::vector<CoreLoad> loads{};         // empty: not measured
  std::vector<std::string> busy{};       // signs that the host was busy while it was measured
  std::optional<eval::HostCard> card{};  // nothing: not measured
  std::string card_file{};               // where the card was written; "": nowhere
  std::string card_fault{};              // why it was not written; "": it was

  std::size_t count(FindingState state) const;
};

// Runs the checks that matter for one of `purposes`. Pure.
std::vector<Finding> examine(const HostView& host, unsigned purposes);

std::string text_of(const Diagnosis& diagnosis, Format format);

struct DoctorOptions {
  unsigned purposes = ~0U;     // of Purpose
  bool names_purpose = false;  // --for was given
  bool measure = false;
  bool thorough = false;    // measure for minutes
  std::string card_file{};  // for the host card; "": this user's
  Format format = Format::table;
  ProbedPlaces places{};
  std::vector<std::string> orb_options{};  // the options with which programs look for the naming service
};

// Returns the exit status: 1 if a measurement failed or its card was not written, or if something is missing; else 0.
// With --measure and without --for, only the measurement decides. What is unknown does not count as missing. Pure.
int status_of(const DoctorOptions& options, const Diagnosis& diagnosis);

// Writes the diagnosis to `out`, and what is measured next to `progress`. Returns status_of() the diagnosis.
int doctor(const DoctorOptions& options, std::ostream& out, std::ostream& progress);

}  // namespace corelane::tool
