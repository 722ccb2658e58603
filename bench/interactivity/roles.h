// The processes of the benchmark; the driver starts each as `corelane-bench-interactivity --role NAME WORD...`:
//
//   reserve CORES DIRECTORY COMMAND...   has cores reserved for its process tree, then becomes the command
//   pair ...                             starts an editor and a service, and writes what the editor noted
//   editor ..., service ...              the ends of a way for events
//   compute LAPS                         the computation
//   hogs COUNT                           threads that never wait
//
// Each first says "READY" (or "READY ADDRESS"), or "FAILED" and why. pair, service and compute then wait for a line,
// and what was measured comes as 64-bit numbers.
#pragma once

#include <string>
#include <vector>

#include "bench/interactivity/event.h"

namespace interactivity {

struct Typing {
  Route route{};
  std::size_t warm_up = 0, events = 0;  // of a round
  std::int64_t gap = 0;                 // ns between events on average: from 0.2 to 1.8 times as much, evenly
  std::uint64_t seed = 1;
  bool bound = false;  // the editor to the first core that there is, the service to the last
};
std::vector<std::string> command_of(const Typing& typing);  // of the pair
std::vector<std::string> computing_command(unsigned laps);
std::vector<std::string> hogs_command(unsigned threads);
std::vector<std::string> reserved_command(unsigned cores, const std::string& directory,
                                          const std::vector<std::string>& command);

// main() of a role. std::exception becomes "FAILED".
int play(const std::string& role, const std::vector<std::string>& words);

}  // namespace interactivity
