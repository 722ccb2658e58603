// `corelane plan` predicts what a server would admit of the tasks in a file: a scenario, or a contracts file. The
// options are defined in plan_command.cpp.
// Threads: none of its own; reads files.
//
// The folder services/corelane/plan predicts what a server would promise.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "services/corelane/output/format.h"

namespace corelane::tool {

struct PlanOptions {
  std::string file{};
  std::optional<int> cores{};   // in place of those of the file
  bool like_this_host = false;  // cores and platform load as in a server that is started here
  bool quick = false;           // verdicts only
  bool thorough = false;        // also for large sets
  // Whose overheads each job is charged with: "host-card" is the card of this host, other texts are the path of a card.
  // "": none.
  std::string overheads{};
  bool worst_overheads = false;  // the longest times of the card, in place of the p99
  bool shows_progress = false;   // on `err`, if it takes long
  Format format = Format::table;
  std::vector<std::string> orb_options{};  // the settings of the server
};

// Writes the plan to `out` and complaints to `err`. Returns 0 if every task is admitted and everything holds, 1 if not,
// and 2 if the input is wrong. See eval::holds().
int plan(const PlanOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
