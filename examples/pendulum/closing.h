// What the demo says at its end: the table of those that ran, why the others did not, what the host did meanwhile, and
// whether every promise was kept.
#pragma once

#include <string>
#include <vector>

#include "examples/pendulum/messages.h"
#include "orb/base/contract.h"

namespace corelane::pendulum {

// One pendulum, from first to last.
struct Participant {
  int number = 0;  // from 1
  Contract contract{};
  ClientAnswer answer{};
  ClientReport report{};
  std::string ended{};  // how, before it was told to; empty: it was told

  bool runs() const noexcept { return answer.admitted && ended.empty(); }

  std::string label() const { return "pendulum " + std::to_string(number); }
};

// The first clause of why one was refused, for a line that says more.
std::string brief_reason(const std::string& reason);

struct Closing {
  std::string text;
  int status = 0;  // of the program: 1 when a promise was broken, or nothing was shown
};

struct Conditions {
  bool swung = true;                  // the demo lasted until its pendulums were told to go
  bool admission = true;              // the service was asked to admit only what it can keep
  bool real_time = true;              // it had the privilege for SCHED_FIFO
  std::string service_end{};          // how it ended before it was told to; empty: it was told
  std::vector<std::string> traces{};  // files that it wrote when a deadline was missed
  std::string tool = "corelane";      // the command as it is to be typed here
};
Closing closing_of(const std::vector<Participant>& participants, const ServerReady& ready, const ServerReport& report,
                   const Conditions& conditions);

}  // namespace corelane::pendulum
