// Floods a server with requests of unknown clients beside a task. Measures what the flood adds to the task's response,
// with and without a budget for the reader. Server, task and flood are separate processes, which this program starts
// from itself.
#pragma once

#include <string>
#include <vector>

#include "orb/base/ids.h"

namespace servers {

struct FloodOptions {
  corelane::CoreId core{};       // for the server's reader, manager, task and best-effort threads
  int seconds = 60;              // of each of the four runs
  int threads = 16;              // threads that flood
  std::string budget = "200us";  // io.budget in the runs that have one
};

// Prints the table. `program`: the path of this program.
void print_flood(const std::string& program, const FloodOptions& options);

// The same in mode `direct`, with a task that floods its own connection.
void print_direct_flood(const std::string& program, const FloodOptions& options);

// The roles. Each returns the exit status of its process. `words`: the command line after the role.
int serve(std::vector<std::string> words);
int run_task(const std::vector<std::string>& words);
int flood(const std::vector<std::string>& words);
int be_rogue(const std::vector<std::string>& words);

}  // namespace servers
