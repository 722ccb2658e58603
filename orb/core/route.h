// route_of() describes how the calls through a reference are transported, for people.
// Threads: any but real-time ones.
#pragma once

#include <string>

namespace corelane::core {

class Reference;

// Route describes the connection that the latest calls used.
struct Route {
  std::string text;       // the whole description: "calls over channel:/run/x: the server is on this host"
  std::string transport;  // the name of its kind, such as unix; process: no connection; "": it was closed again
  std::string endpoint;   // such as channel:/run/x
  std::string why;        // why this transport was chosen
};
Route route_of(const Reference& reference);

}  // namespace corelane::core
