// A flood of strangers' requests beside a task: what it adds to the task's response, with and without a budget for the
// reader. Server, task and flood are processes of their own, which this program starts from itself.
#pragma once

#include <string>
#include <vector>

#include "orb/base/ids.h"

namespace servers {

struct FloodOptions {
  corelane::CoreId core{};       // of the server: reader, manager, task and strangers' threads
  int seconds = 60;              // of each of the four runs
  int threads = 16;              // that flood
  std::string budget = "200us";  // io.budget where there is one
};

// Prints the table. `program`: this one's path.
void print_flood(const std::string& program, const FloodOptions& options);

// The same in mode `direct`, where a task floods its own connection.
void print_direct_flood(const std::string& program, const FloodOptions& options);

// The roles; each returns the process's status. Words: of the command line, after the role.
int serve(std::vector<std::string> words);
int run_task(const std::vector<std::string>& words);
int flood(const std::vector<std::string>& words);
int be_rogue(const std::vector<std::string>& words);

}  // namespace servers
