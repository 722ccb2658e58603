// `corelane top` shows the counter pages of the servers that run here, and what the host ledger says of these and of
// other processes. The options are defined in top_command.cpp.
// Threads: none of its own; reads files.
//
// The folder services/corelane/servers shows the servers of this host, ends their tasks, and removes what ended servers
// left.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "orb/dispatch/counter_page.h"
#include "orb/dispatch/leases/ledger_file.h"
#include "services/corelane/host/elsewhere.h"
#include "services/corelane/output/format.h"

namespace corelane::tool {

// The content of one runtime directory.
struct Picture {
  std::string directory{};
  std::vector<dispatch::ProcessCounters> processes{};  // those whose pages this user may read
  std::vector<dispatch::LedgerHolder> holders{};       // processes that have promised a part of a core
  std::string fault{};                                 // why the ledger could not be read
  std::vector<int> closed{};                           // servers whose pages this user may not read
};

// `now` is a time of the clock of os::now(). The table marks old pages; JSON has "written_ns" instead.
std::string text_of(const Picture& picture, Format format, Time now);

// Waits until all servers of `directory` have written their pages since `begin`, so that a picture includes what
// happened before. Asks them to write, because a server without tasks seldom writes by itself. Returns false if one has
// not written within `patience`, because it is stopped or busy. Does not wait for servers that only the ledger knows.
bool await_pages(const std::string& directory, Time begin, Duration patience);

// Shows one picture of `directory`; the table also mentions servers in `known`. Returns 0 if done; 1 if the directory
// cannot be read. A ledger that cannot be read is reported in the table. With JSON it is reported on `err`, and the
// JSON has null for its content.
int top_once(const std::string& directory, Format format, KnownDirectories& known, std::ostream& out,
             std::ostream& err);

}  // namespace corelane::tool
