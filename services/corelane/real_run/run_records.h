// RunRecords is what the processes of a real run have reported. outcome_of() sums it up.
//
// When a deadline is missed. The deadline of a job counts from its release at the server, as everywhere in Corelane.
// Its end is the servant's last instruction. There is one exception. If the previous job of the task still ran at the
// planned release, the client could only send late. Then the job counts from the instant at which the server would have
// released it if it had been sent as planned. Otherwise a task that falls behind would hide it. A job counts if the
// planned release and the deadline from there are within the run. A call that fails is a miss.
//
// Threads: pure functions and values. Allocates.
#pragma once

#include <string>
#include <vector>

#include "orb/eval/run.h"
#include "services/corelane/real_run/attribution.h"
#include "services/corelane/real_run/gap_count.h"
#include "services/corelane/real_run/node_messages.h"
#include "services/corelane/real_run/planned_job.h"

namespace corelane::tool {

struct RunRecords {
  Time start{};                                  // of the run, on the monotonic clock
  std::vector<AdmitAnswer> answers;              // by task
  std::vector<std::vector<PlannedJob>> planned;  // by task; none for a refused task
  ServerReady ready{};
  ServerReport server{};
  std::vector<ClientReport> clients;
};

// Returns the jobs that ended, in the order of their releases.
std::vector<ObservedJob> observed_jobs(const eval::RunRequest& request, const RunRecords& records);

eval::RunOutcome outcome_of(const eval::RunRequest& request, const RunRecords& records);

// Returns the gaps of all jobs.
GapCount gaps_of(const RunRecords& records);

}  // namespace corelane::tool
