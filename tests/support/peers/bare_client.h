// BareClient is a server of a Probe, and what a client without an ORB needs to call it over a Wire.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"

namespace corelane::testing {

struct BareClient {
  explicit BareClient(std::vector<std::string> options = {}) : server(std::move(options)) {}

  ProbeServer server;
  Wires wires;
  transport::Endpoint endpoint = server.orb->endpoints().front();
  std::vector<std::byte> key = server.key();
  cdr::Writer writer;
};

}  // namespace corelane::testing
