// GraphTrace lets the kernel record how long each call of its load balancer takes, with the function graph tracer of
// tracefs (Documentation/trace/ftrace.rst of the kernel).
//
// Threads: one. Needs root. The tracer is one for the whole host, so a GraphTrace refuses to start while another
// program traces. It resets the tracer when it is destroyed; a program that is killed meanwhile leaves it on.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/eval/host_card.h"
#include "services/corelane/host_card/together.h"

namespace corelane::tool {

// Returns the duration of each call in the text of the file `trace`. Pure.
std::vector<Duration> durations_of_graph(std::string_view trace);

// Returns what the calls cost together. Pure.
eval::BalancerCost balancer_cost_of(int tasks, int percent, Duration watched, const std::vector<Duration>& calls);

class GraphTrace {
 public:
  // `folder`: where tracefs is mounted.
  static Expected<GraphTrace, NotMeasured> start(const std::string& folder);
  GraphTrace(GraphTrace&& other) noexcept;
  GraphTrace& operator=(GraphTrace&&) = delete;
  ~GraphTrace();

  // Returns what was recorded so far.
  std::vector<Duration> calls() const;

 private:
  explicit GraphTrace(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;  // empty after a move
};

// Returns where tracefs is mounted; "" if this process sees it nowhere.
std::string tracefs_folder();

}  // namespace corelane::tool
