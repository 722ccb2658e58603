// Repeats published experiments with I/O servers (Danish, Li & West, RTAS 2011).
//
// io-on-behalf, the CD-ROM example: the VCPUs (1, 4), (2, 5), (2, 8) and (1, 10) use up a core. Then an I/O server of
// 10 % works on behalf of the third one. It takes its time only from the fourth.
//
// io-servers: transfers of a slow device beside a flood for a faster one. With an I/O server for each device the
// transfers keep their rate. With one server for both they lose it.
//
// Threads: pure functions, except the experiment on this host. They allocate.
#pragma once

#include <cstdint>
#include <vector>

#include "orb/base/time.h"
#include "services/corelane/reproductions/experiment.h"

namespace corelane::tool::reproductions {

// Returns what the four VCPUs and the I/O server have used after `length` of virtual time.
std::vector<Duration> used_on_behalf(bool has_io, Duration length);

struct TransferSetup {
  bool has_flood = false;
  bool has_own_server = false;  // the transfers do not share a server with the flood
  Duration length{};
};

struct TransferCounts {
  std::uint64_t transfers = 0;
  std::uint64_t dropped = 0;  // came while too many waited
  Duration io{};              // processor time of all I/O
};

TransferCounts count_transfers(const TransferSetup& setup);

extern const Experiment io_on_behalf, io_on_behalf_real, io_servers;

}  // namespace corelane::tool::reproductions
