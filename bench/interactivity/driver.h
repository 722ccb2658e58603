// The driver's means: the daemon that reserves cores, threads that never wait, and one run of a command beside them.
// Threads: the driver's only thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/interactivity/enclosure.h"
#include "bench/support/summary.h"
#include "orb/os/process/child_process.h"

namespace interactivity {

// A corelane-reserved for the enclosure, or the one that already runs on this machine.
class Reserver {
 public:
  // `running`: the runtime directory of a daemon that runs; "": start one.
  Reserver(const Enclosure& enclosure, const std::string& running);
  ~Reserver();

  // Returns why no cores can be reserved; "" if they can.
  const std::string& impossible() const { return impossible_; }
  const std::string& directory() const { return directory_; }

 private:
  void start(const Enclosure& enclosure);

  std::string directory_, impossible_;
  std::optional<corelane::os::ChildProcess> daemon_;
};

struct Conditions {
  unsigned hogs = 0;   // threads that never wait
  unsigned cores = 0;  // reserved for the command; 0: none
};

// Returns the numbers that the command wrote after "READY". Raises std::exception if something goes wrong.
bench_support::Samples run_beside(const Conditions& conditions, const Reserver& reserver,
                                  const std::vector<std::string>& command);

}  // namespace interactivity
