// Connections that send requests for an operation which their object does not have, without a pause and without an ORB.
#pragma once

#include <string>
#include <vector>

namespace servers {

// The roles; each returns the process's status.
// Words: the reference, the number of connections, and whether each of them is to have a task first ("task") or not
// ("none"). Sends until the process is ended.
int flood_with_unknown(const std::vector<std::string>& words);
// A client without a contract. Words: the reference, and for how many seconds it calls. Prints how many calls were
// answered and how many failed.
int call_without_contract(const std::vector<std::string>& words);

}  // namespace servers
