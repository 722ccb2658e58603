// Recorder keeps the rings of one executive: one for its Manager, and one for each core. It dumps them to files when a
// deadline was missed, on request, and at the end. docs/recorder.md describes the format and the use.
//
// There is a ring for each state machine, not for each thread. A thread that tells a machine something holds its lock
// already. So a ring has one writer at a time, and its order is that of the machine, which a replay needs. A ring for
// each thread would be lost with the thread's task, and ten thousand tasks would need ten thousand rings.
//
// Threads: manager() and scheduler(): any; their rings: as RecorderRing says. step(), dump() and end(): threads that
// are not real-time, because they allocate and write files.
//
// The folder orb/dispatch/telemetry measures and records what the executive does, and writes it for other programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/agent.h"
#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/dispatch/recorder_options.h"
#include "orb/dispatch/telemetry/recorder_ring.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/trace/trace_file.h"

namespace corelane::dispatch {

// Returns the file name of this process's program, for people to read.
std::string program_name();
// Does the same for the target of /proc/self/exe and the base name by which the program was called.
std::string program_name_of(std::string path, const std::string& called);

class Recorder final : public Agent {
 public:
  // `manager`: the options of the Manager. `scheduler_tasks`: the max_tasks of each CoreScheduler, whose timer has its
  // core's number.
  Recorder(const RecorderOptions& options, const sched::ManagerOptions& manager, std::size_t scheduler_tasks);

  // Null: nothing is recorded.
  RecorderRing* manager() noexcept { return rings_.empty() ? nullptr : rings_.front().get(); }
  RecorderRing* scheduler(CoreId core) noexcept;

  // Writes a file if a deadline was missed since the last time, and one if a dump was requested. One thread at a time.
  bool step(Time now) noexcept override;
  // Returns how often step() is due: soon enough that the ring still holds what led to a miss.
  Duration period() const noexcept { return std::chrono::milliseconds{watches_misses() ? 50 : 250}; }

  // Writes the content of the rings to a new file and returns its path. `directory` replaces the configured one.
  // Errors, which the log explains: BAD_PARAM bad_option: nothing is recorded; PERSIST_STORE system_refused; NO_MEMORY.
  Expected<std::string> dump(sched::TraceReason reason, std::string_view directory = {});
  // Writes the last dump, if that is configured.
  void end() noexcept;

  sched::TraceFile snapshot(sched::TraceReason reason) const;

 private:
  Expected<std::string> write_trace(const std::string& folder, const sched::TraceFile& trace) CORELANE_REQUIRES(mutex_);
  bool watches_misses() const noexcept { return !rings_.empty() && options_.dump_on_miss > 0; }
  bool look_for_misses(Time now);
  bool look_for_request();
  std::uint64_t misses() const noexcept;

  // Constant.
  const RecorderOptions options_;
  const sched::ManagerOptions manager_options_;
  const std::size_t scheduler_tasks_;
  std::vector<std::unique_ptr<RecorderRing>> rings_;  // the manager's, then one for each core

  // Owner: the thread that calls step().
  std::uint64_t seen_misses_ = 0;
  unsigned miss_files_ = 0;
  Time next_file_{};

  os::PiMutex mutex_;  // one file at a time
  unsigned file_count_ CORELANE_GUARDED_BY(mutex_) = 0;
};

}  // namespace corelane::dispatch
