// The three roles of the demo's program. Each runs in a process of its own.
#pragma once

#include <string>
#include <vector>

#include "orb/base/contract.h"

namespace corelane::pendulum {

using OrbOptions = std::vector<std::string>;  // words for ORB_init, such as "-ORBPoolCores", "0"

inline constexpr const char* service_name = "pendulum/controller";  // its name at the nameserver

// Which processes stay off the service's cores.
enum class Reserving { own, host, off };

// What the conductor starts.
struct ConductorOptions {
  int pendulums = 0;  // 0: a few more than the machine can serve
  Duration length = std::chrono::seconds{10};
  bool admission = true;
  Reserving reserving = Reserving::own;
};

struct ServerOptions {
  bool admission = true;
  std::string name;  // name at the nameserver; empty: none
};

struct ClientOptions {
  std::string reference;
  Contract contract;
  Duration effort{};  // time to compute one force
  double length = 1;  // length of the rod, m
  std::uint64_t seed = 1;
};

// Each returns the exit status of its process.

// Starts the daemons (stage.h), the service and the clients. Shows progress and prints the tables. Returns 0 if each
// missed deadline of an admitted task is explained by the machine or by an exceeded budget. With --no-admission,
// returns 0 if the demo ran, because nothing was promised.
int conduct(const ConductorOptions& options, const OrbOptions& orb_options);
// Serves until its standard input delivers a line or ends. Then writes its report.
int serve(const ServerOptions& options, const OrbOptions& orb_options);
// Asks for admission, balances one pendulum from "go" to "stop", and writes its report. After a "stop" without "go" it
// writes a report, too.
int swing(const ClientOptions& options, const OrbOptions& orb_options);

}  // namespace corelane::pendulum
