// The processes of the benchmark. The driver starts each as `corelane-bench-interactivity --role NAME WORD...`:
//
//   reserve CORES DIRECTORY COMMAND...   reserves cores for its process tree, then becomes the command
//   pair ...                             starts an editor and a service, and writes the editor's notes
//   editor ..., service ...              the two ends of a way for events
//   compute LAPS                         the computation
//   hogs COUNT                           threads that never wait
//
// Each first prints "READY" (or "READY ADDRESS"), or "FAILED" and the reason. pair, service and compute then wait for a
// line. The results are written as 64-bit numbers.
#pragma once

#include <string>
#include <vector>

#include "bench/interactivity/event.h"

namespace interactivity {

struct Typing {
  Route route{};
  std::size_t warm_up = 0, events = 0;  // in a round
  std::int64_t gap = 0;                 // average ns between events; uniformly between 0.2 and 1.8 times as much
  std::uint64_t seed = 1;
  bool bound = false;  // binds the editor to the first usable core, the service to the last
};
std::vector<std::string> command_of(const Typing& typing);  // runs a pair
std::vector<std::string> computing_command(unsigned laps);
std::vector<std::string> hogs_command(unsigned threads);
std::vector<std::string> reserved_command(unsigned cores, const std::string& directory,
                                          const std::vector<std::string>& command);

// The main() of a role. Prints "FAILED" for a std::exception.
int play(const std::string& role, const std::vector<std::string>& words);

}  // namespace interactivity
