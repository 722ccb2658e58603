// What `corelane top` does, apart from its options: shows the counter pages of the servers that run here, and what the
// host ledger says of those and of others.
// Threads: none of its own; reads files.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "orb/dispatch/counter_page.h"
#include "orb/dispatch/ledger_file.h"
#include "services/corelane/elsewhere.h"
#include "services/corelane/format.h"

namespace corelane::tool {

// What one runtime directory shows.
struct Picture {
  std::string directory{};
  std::vector<dispatch::ProcessCounters> processes{};  // whose pages this user may look at
  std::vector<dispatch::LedgerHolder> holders{};       // who has promised a part of a core
  std::string fault{};                                 // why the ledger is not in it
  std::vector<int> closed{};                           // servers whose pages this user may not look at
};

// `now` by the clock of os::now(): the table says which pages are old. JSON has "written_ns" for that.
std::string text_of(const Picture& picture, Format format, Time now);

// Waits until all servers of `directory` have written their pages since `begin`, so that a picture shows what was
// before that: they do so twice a second. False: one has not within `patience`, being stopped or busy. Those that the
// ledger knows alone are not waited for.
bool await_pages(const std::string& directory, Time begin, Duration patience);

// One picture of `directory`; the table tells of servers in `known`, too. 0: done; 1: the directory cannot be read.
// A ledger that cannot be read is told: in the table, and with JSON, which has null for what it would say, in `err`.
int top_once(const std::string& directory, Format format, KnownDirectories& known, std::ostream& out,
             std::ostream& err);

}  // namespace corelane::tool
