// Replay feeds the recorded inputs of a run's Manager and CoreSchedulers to new ones with the same options. It compares
// their answers with the recorded answers, word for word. If all are equal, this code made the same decisions from the
// same facts. Otherwise the first difference shows where the run differs.
//
// A track can be replayed if none of it was overwritten. Without its beginning, the initial state is unknown.
//
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/sched/trace/trace_file.h"

namespace corelane::sim {

struct ReplayedTrack {
  std::string name;  // "manager", "core 2"
  bool replayed = false;
  std::uint64_t lost = 0;    // recorder slots overwritten; if not 0, the track is not replayed
  std::size_t inputs = 0;    // number of facts and calls
  std::size_t commands = 0;  // number of commands that were equal
};

struct ReplayDifference {
  std::string track;
  std::size_t record = 0;  // index in the track, from 0
  Time at{};
  std::string recorded;  // as text; "nothing" if the recorded answer ends here
  std::string replayed;
};

struct ReplayReport {
  std::vector<ReplayedTrack> tracks;
  std::optional<ReplayDifference> difference;  // the first difference; later tracks are not replayed

  // Returns whether at least one track was replayed and all answers were equal.
  bool same() const;
};

// Replays a trace. The fault names a record that cannot be given to its Manager or CoreScheduler.
Expected<ReplayReport, sched::TraceFault> replay(const sched::TraceFile& trace);

// Returns "manager" or a name such as "core 2".
std::string name_of(const sched::Track& track);

}  // namespace corelane::sim
