// The names of the resources that this process has made (rt::Resource), so that a misspelt one is told: of what only
// its contract calls so, nobody would ever know that it is not the one that is locked.
//
// Threads: any but real-time ones: a lock, and it allocates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corelane::dispatch {

// Once and for all, since the resource may come again. Where there is no memory it is not remembered.
void remember_resource(std::string_view name) noexcept;
// Sorted, each once.
std::vector<std::string> remembered_resources();

}  // namespace corelane::dispatch
