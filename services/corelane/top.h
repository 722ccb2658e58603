// What `corelane top` does, apart from its options: shows the counter pages of the servers that run here.
// Threads: none of its own; reads files.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "orb/dispatch/counter_page.h"
#include "services/corelane/format.h"

namespace corelane::tool {

// `now` by the clock of os::now(): the table says which pages are old. JSON has "written_ns" for that.
std::string text_of(const std::vector<dispatch::ProcessCounters>& processes, Format format, Time now);

// One picture of the pages in `directory`. 0: done; 1: the directory cannot be read.
int top_once(const std::string& directory, Format format, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
