// Replay: feeds what a recorded run's Manager and Lanes were told to fresh ones with the same options, and compares
// what they answer with what was recorded, word for word. Equal answers show that the run was decided by this very
// code from these very facts; the first difference says where it was not.
//
// A track can be replayed when nothing of it was overwritten: without its beginning nobody knows the state it goes on
// from.
//
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/sched/trace_file.h"

namespace corelane::sim {

struct ReplayedTrack {
  std::string name;  // "manager", "core 2"
  bool replayed = false;
  std::uint64_t lost = 0;    // slots; why it was not replayed
  std::size_t inputs = 0;    // facts and calls
  std::size_t commands = 0;  // that were found equal
};

struct ReplayDifference {
  std::string track;
  std::size_t record = 0;  // its number in the track, from 0
  Time at{};
  std::string recorded;  // in words; "nothing" where the recorded answer ends
  std::string replayed;
};

struct ReplayReport {
  std::vector<ReplayedTrack> tracks;
  std::optional<ReplayDifference> difference;  // the first; later tracks are not looked at

  // Something was replayed, and all of it was equal.
  bool same() const;
};

// The fault names the record that cannot be given to anybody.
Expected<ReplayReport, sched::TraceFault> replay(const sched::TraceFile& trace);

// "manager" or "core 2".
std::string name_of(const sched::Track& track);

}  // namespace corelane::sim
