// These functions remember the names of the resources that this process has made (rt::Resource), so that misspelled
// names are reported. If only a contract uses a name, nobody would notice that it is not the one that is locked.
//
// Threads: any that is not real-time: they take a lock and allocate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corelane::dispatch {

// Remembers the name for good, because the resource may be made again. If there is no memory, the name is not
// remembered.
void remember_resource(std::string_view name) noexcept;
// Returns the names, sorted, each once.
std::vector<std::string> remembered_resources();

}  // namespace corelane::dispatch
