// GraphTrace lets the kernel record how long each call of its load balancer takes, with the function graph tracer of
// tracefs (Documentation/trace/ftrace.rst of the kernel).
//
// Threads: one. Needs root. The tracer is one for the whole host, so a GraphTrace refuses to start while another
// program traces. It resets the tracer when it is destroyed, and at SIGINT, SIGTERM and SIGHUP, which then end the
// process. A process that SIGKILL ends leaves the tracer on. A mark file says so, and the next start() resets it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/eval/host_card/host_card.h"
#include "services/corelane/host_card/together.h"

namespace corelane::tool {

// Returns the duration of each call in the text of the file `trace`. Pure.
std::vector<Duration> durations_of_graph(std::string_view trace);

// Returns what the calls cost together. Pure.
eval::BalancerCost balancer_cost_of(int tasks, int percent, Duration watched, const std::vector<Duration>& calls);

class GraphTrace {
 public:
  // `folder`: where tracefs is mounted. `mark`: the file that exists and is locked while a GraphTrace does. One process
  // has one GraphTrace at a time.
  static Expected<GraphTrace, NotMeasured> start(const std::string& folder,
                                                 const std::string& mark = "/run/corelane-doctor-tracer");
  GraphTrace(GraphTrace&& other) noexcept;
  GraphTrace& operator=(GraphTrace&&) = delete;
  ~GraphTrace();

  // Returns what was recorded so far.
  std::vector<Duration> calls() const;

 private:
  class Reset;  // resets the tracer

  GraphTrace(std::string folder, std::unique_ptr<Reset> reset);

  std::string folder_;
  std::unique_ptr<Reset> reset_;
};

// Returns where tracefs is mounted; "" if this process sees it nowhere.
std::string tracefs_folder();

}  // namespace corelane::tool
