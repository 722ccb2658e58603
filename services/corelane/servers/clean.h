// `corelane clean` removes what ended processes left in a runtime directory: counter pages, sockets with their locks,
// and requests for traces. The options are defined in clean_command.cpp.
//
// Files that a living process uses are locked or answer, and stay. Files of other programs stay, too, and so do traces,
// which users may still need. Slots of the ledger and of its `.members` file are freed with their process and used
// again, so nothing of them is left to remove.
//
// Threads: none of its own; reads and removes files.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "services/corelane/output/format.h"

namespace corelane::tool {

// A file that no process uses any more, and what it was.
struct Remnant {
  std::string path{}, what{};
};

struct Remnants {
  std::vector<Remnant> found{};
  std::string fault{};     // why the directory could not be read completely; "": it was
  std::size_t closed = 0;  // files of other users that seem unused, but that this user may not examine
};

// Finds what clean() would remove. Changes nothing.
Remnants find_remnants(const std::string& directory);
// Returns false if it is used again, is gone already, or may not be removed.
bool remove_remnant(const Remnant& remnant);

struct CleanOptions {
  std::string directory{};
  bool dry_run = false;
  Format format = Format::table;
};
// Returns 0 if all was removed or there was nothing; 1 if something could not be removed or examined.
int clean(const CleanOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
