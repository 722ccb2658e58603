#include "services/corelane/scale/stage_profile.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "orb/sched/trace/trace.h"
#include "orb/sched/trace/trace_kinds.h"

namespace corelane::tool {
namespace {

// Times of all jobs of a label.
struct Stages {
  std::int64_t jobs = 0;
  Duration waiting{}, executing{}, away{};
};

// A job under way. A value is missing while its record has not come, or if it was overwritten.
struct JobInstants {
  std::optional<Time> arrived{}, began{};
};

// StageCollector reads the records of one process.
class StageCollector {
 public:
  // The tracks of cores do not have the names.
  void collect(const sched::TraceFile& trace) {
    for (const sched::TrackKind kind : {sched::TrackKind::manager, sched::TrackKind::core})
      for (const sched::Track& track : trace.tracks)
        if (track.kind == kind)
          for (const sched::TraceView& record : sched::records_of(track)) read(record);
  }
  const std::map<std::string, Stages>& stages() const { return stages_; }

 private:
  void read(const sched::TraceView& record) {
    if (const auto named = sched::decode<sched::trace::Named>(record)) names_[named->task] = named->name();
    if (const auto arrived = sched::decode<sched::Arrived>(record)) jobs_[arrived->job].arrived = arrived->at;
    if (const auto started = sched::decode<sched::trace::Started>(record)) jobs_[started->job].began = started->at;
    if (const auto finished = sched::decode<sched::Finished>(record)) end(*finished);
  }

  void end(const sched::Finished& finished) {
    const auto job = jobs_.extract(finished.job);
    if (job.empty() || !job.mapped().arrived || !job.mapped().began) return;
    Stages& stages = stages_[name_of_task(finished.task)];
    ++stages.jobs;
    stages.waiting += *job.mapped().began - *job.mapped().arrived;
    stages.executing += finished.used;
    stages.away += std::max(finished.at - *job.mapped().began - finished.used, Duration::zero());
  }

  std::string name_of_task(TaskId task) const {
    const auto found = names_.find(task);
    return found == names_.end() ? "task " + std::to_string(task.value) : found->second;
  }

  std::map<TaskId, std::string> names_{};
  std::map<JobId, JobInstants> jobs_{};
  std::map<std::string, Stages> stages_{};
};

}  // namespace

std::vector<scale::FunctionTime> stage_profile(const sched::TraceFile& trace) {
  StageCollector collector;
  collector.collect(trace);
  std::vector<scale::FunctionTime> profile;
  for (const auto& [label, stages] : collector.stages()) {
    const auto mean = [jobs = static_cast<double>(stages.jobs)](Duration sum) {
      return static_cast<double>(sum.count()) / jobs;
    };
    profile.push_back({label + ": waits to begin", mean(stages.waiting)});
    profile.push_back({label + ": executes", mean(stages.executing)});
    profile.push_back({label + ": is preempted or waits", mean(stages.away)});
  }
  return profile;
}

}  // namespace corelane::tool
