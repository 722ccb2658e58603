// MeasuredCalls makes calls of one operation of a live object, for `corelane measure --call`, and returns what the
// server recorded of them. For each command of the option `beside` it makes them once more while that command runs.
//
// Threads: the caller's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/dispatch/counter_page.h"
#include "orb/os/machine/cache_counters.h"
#include "orb/os/process/child_process.h"
#include "services/corelane/measure/measure.h"
#include "services/corelane/measure/measurement.h"

namespace corelane::tool {

using Measurements = std::optional<std::vector<Measurement>>;  // nothing after a complaint

// Lets the server write a trace, and returns the jobs in it.
Measurements request_measurements(const MeasureOptions& options, int pid, const Selection& selection,
                                  const Complaints& complaints);

// Returns the labels of what runs beside the calls: the tasks, or the commands.
std::vector<std::string> labels_beside(const MeasureOptions& options);

class MeasuredCalls {
 public:
  // Both must outlive this object.
  MeasuredCalls(const MeasureOptions& options, const Complaints& complaints)
      : options_(options), complaints_(complaints) {}

  Measurements measure();

  // Returns the interface from the reference, with its version, after measure(). Empty if the reference has none.
  const std::string& interface() const { return interface_; }

 private:
  Measurements measure_once();
  bool look_for_server(const CalledTask& task);
  void start_counting(int thread);
  bool start_other_work(TaskId task);
  bool end_other_work();
  bool was_interrupted() const;
  bool is_of_interface(const std::string& label) const;
  bool terms_fit(const std::vector<Contract>& own) const;
  bool file_takes_slowdowns() const;
  bool fetch(const CalledTask& task);

  const MeasureOptions& options_;
  const Complaints& complaints_;
  int pid_ = 0;
  CoreId core_ = no_core;  // of the task
  std::string interface_{};
  Measurements found_{};
  std::optional<os::CacheCounters> counters_{};
  std::string uncounted_{};      // why there are none
  std::string other_command_{};  // this series of calls is made beside it; empty: alone
  std::optional<os::ChildProcess> other_work_{};
};

}  // namespace corelane::tool
