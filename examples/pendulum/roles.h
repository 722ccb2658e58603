// The three roles that the one program of the demo plays, each in processes of its own.
#pragma once

#include <string>
#include <vector>

#include "orb/base/contract.h"

namespace corelane::pendulum {

using OrbOptions = std::vector<std::string>;  // "-ORBPoolCores", "0": for ORB_init

inline constexpr const char* service_name = "pendulum/controller";  // at the nameserver

// Whose processes keep off the cores of the service.
enum class Reserving { own, host, off };

// Whom the conductor starts, and how.
struct ConductorOptions {
  int pendulums = 0;  // 0: a few more than the machine carries
  Duration length = std::chrono::seconds{10};
  bool admission = true;
  Reserving reserving = Reserving::own;
};

struct ServerOptions {
  bool admission = true;
  std::string name;  // at the nameserver; empty: none
};

struct ClientOptions {
  std::string reference;
  Contract contract;
  Duration effort{};  // of computing one force
  double length = 1;  // of the rod, m
  std::uint64_t seed = 1;
};

// Each returns the exit status of its process.

// Starts what the service stands on (stage.h), the service and the clients, shows progress, prints the tables. 0: each
// missed deadline of an admitted task was the machine's doing, or that of a budget that was exceeded; with
// --no-admission: the contrast was shown.
int conduct(const ConductorOptions& options, const OrbOptions& orb_options);
// Serves until its standard input ends; then writes its report.
int serve(const ServerOptions& options, const OrbOptions& orb_options);
// Asks for admission, balances one pendulum from "go" to "stop", and writes its report; a "stop" alone gets one, too.
int swing(const ClientOptions& options, const OrbOptions& orb_options);

}  // namespace corelane::pendulum
