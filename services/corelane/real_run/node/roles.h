// The roles of corelane-eval-node. A real run starts a server, several clients and a watcher, and tells them through
// their standard input what to do (node_messages.h). Each process ends when its standard input ends.
#pragma once

#include <string>
#include <vector>

namespace corelane::tool {

// Each returns the exit status of its process, and raises std::exception. `orb_options`: words for ORB_init, such as
// "-ORBPoolCores", "0".

// Reads a ServeOrder, and serves one object for each task. Writes a ServerReady. After the line "stop" it writes a
// ServerReport.
int serve_tasks(const std::vector<std::string>& orb_options);

// Obeys lines "admit ORDER", each of which it answers with an AdmitAnswer, and then one line "run ORDER". It calls as
// that order says and writes a ClientReport.
int call_tasks(const std::vector<std::string>& orb_options);

// Reads a WatchOrder, computes on all of its cores for that time, and writes a WatchReport.
int watch_gaps_here();

}  // namespace corelane::tool
