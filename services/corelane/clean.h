// What `corelane clean` does, apart from its options: removes what processes that ended left in a runtime directory:
// counter pages, sockets with their locks, requests for traces. What a living process uses has its lock, or answers,
// and stays; so does what is not Corelane's, and traces, which are somebody's. Slots of the ledger and seats go with
// their process and are taken again: of them nothing is left to remove. Threads: none of its own; reads and removes
// files.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "services/corelane/format.h"

namespace corelane::tool {

// A file that nobody uses any more, and what it was.
struct Remnant {
  std::string path{}, what{};
};

struct Remnants {
  std::vector<Remnant> found{};
  std::string fault{};     // why the directory could not be read to its end; "": it was
  std::size_t closed = 0;  // files of other users that nobody living is seen to use, and that this one may not look at
};

// Changes nothing.
Remnants find_remnants(const std::string& directory);
// False: it is used again, gone already, or may not be removed.
bool remove_remnant(const Remnant& remnant);

struct CleanOptions {
  std::string directory{};
  bool dry_run = false;
  Format format = Format::table;
};
// 0: all of it is removed, or there was nothing; 1: something could not be removed, or not be looked at.
int clean(const CleanOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
