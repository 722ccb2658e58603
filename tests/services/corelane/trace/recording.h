// A recorded run that a test writes: one manager, one core.
#pragma once

#include <fstream>
#include <string>

#include "orb/sched/trace/trace_file.h"

namespace corelane::testing {

class Recording {
 public:
  Recording() {
    trace.program = "plant";
    trace.pid = 42;
    trace.dumped_at = Time{Duration{1'000'000'000}};
    trace.options.cores = {{.id = CoreId{1}}};
    trace.tracks = {sched::Track{},
                    {.kind = sched::TrackKind::core, .core = CoreId{1}, .max_tasks = 8, .timer = TimerId{1}}};
  }
  template <typename T>
  Recording& manager(Duration at, const T& item) {
    return write(trace.tracks[0], at, item);
  }
  template <typename T>
  Recording& scheduler(Duration at, const T& item) {
    return write(trace.tracks[1], at, item);
  }
  // `peer`: the client that owns the task; none: the server itself.
  void admit(Duration at, std::uint64_t task, int priority, const std::string& name, PeerId peer = {},
             Duration period = Duration{10'000'000}) {
    sched::Admit admit{};
    admit.task = TaskId{task};
    admit.peer = peer;
    admit.core = CoreId{1};
    admit.priority = Priority{priority};
    admit.contract = {.period = period, .deadline = period, .budget = Duration{2'000'000}};
    manager(at, admit);
    manager(at, sched::trace::Named::make(TaskId{task}, name));
  }
  void start(Duration at, std::uint64_t task, std::uint64_t job, int priority) {
    scheduler(at, sched::Run{JobId{job}, TaskId{task}, Priority{priority}, Time{at - Duration{1'000}},
                             Time{at + Duration{10'000}}});
    scheduler(at, sched::trace::Started{Time{at}, JobId{job}, TaskId{task}});
  }
  void finish(Duration at, std::uint64_t task, std::uint64_t job, Duration used = Duration{5'000}) {
    scheduler(at, sched::Finished{.at = Time{at}, .job = JobId{job}, .task = TaskId{task}, .used = used});
  }
  std::string save(const std::string& path) const {
    const auto bytes = sched::to_bytes(trace);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  sched::TraceFile trace;

 private:
  template <typename T>
  Recording& write(sched::Track& track, Duration at, const T& item) {
    sched::TraceRecord record;
    sched::encode(item, Time{at}, record);
    track.words.insert(track.words.end(), record.span().begin(), record.span().end());
    return *this;
  }
};

}  // namespace corelane::testing
