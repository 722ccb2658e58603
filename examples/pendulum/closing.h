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

  std::string label() const { return "pendulum " + std::to_string(number); }
};

struct Closing {
  std::string text;
  int status = 0;  // of the program: 1 when a promise was broken, or none was made though some should have been
};

// `admission`: the service was asked to admit only what it can keep. `real_time`: it had the privilege for SCHED_FIFO.
struct Conditions {
  bool admission = true;
  bool real_time = true;
};
Closing closing_of(const std::vector<Participant>& participants, const ServerReady& ready, const ServerReport& report,
                   Conditions conditions);

}  // namespace corelane::pendulum
