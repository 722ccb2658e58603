// The text at the end of the demo. It shows a table of the pendulums that ran, why others were refused, what the host
// did meanwhile, and whether every promise was kept.
#pragma once

#include <string>
#include <vector>

#include "examples/pendulum/messages.h"
#include "orb/base/contract.h"

namespace corelane::pendulum {

// One pendulum over the whole demo.
struct Participant {
  int number = 0;  // from 1
  Contract contract{};
  ClientAnswer answer{};
  ClientReport report{};
  std::string ended{};  // how it ended before it was told to; empty: it did not

  bool runs() const noexcept { return answer.admitted && ended.empty(); }

  std::string label() const { return "pendulum " + std::to_string(number); }
};

// Returns the first clause of a refusal's reason, for a line that contains other facts.
std::string brief_reason(const std::string& reason);

struct Closing {
  std::string text;
  int status = 0;  // exit status of the program: 1 if a promise was broken or nothing was shown
};

struct Conditions {
  bool swung = true;                  // the demo lasted until its pendulums were started
  bool admission = true;              // the service was asked to admit only what it can keep
  bool real_time = true;              // the demo had the privilege for SCHED_FIFO
  std::string service_end{};          // how the service ended before it was told to; empty: it did not
  std::vector<std::string> traces{};  // files that the service wrote when a deadline was missed
  std::string tool = "corelane";      // the command as the user has to type it here
};
Closing closing_of(const std::vector<Participant>& participants, const ServerReady& ready, const ServerReport& report,
                   const Conditions& conditions);

}  // namespace corelane::pendulum
