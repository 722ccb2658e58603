// Connections without an ORB that send requests for an operation that their object does not have, without a pause.
#pragma once

#include <string>
#include <vector>

namespace servers {

// The roles. Each returns the exit status of its process.
// Words: the reference, the number of connections, and whether each of them first gets a task ("task") or not ("none").
// Sends until the process is killed.
int flood_with_unknown(const std::vector<std::string>& words);
// A client without a contract. Words: the reference, and the number of seconds for which it calls. Prints how many
// calls were answered and how many failed.
int call_without_contract(const std::vector<std::string>& words);

}  // namespace servers
