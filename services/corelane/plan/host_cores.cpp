#include "services/corelane/plan/host_cores.h"

#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/machine/topology.h"

namespace corelane::tool {

Expected<std::vector<CoreId>, std::string> host_cores(const dispatch::ExecutiveOptions& server) {
  const auto topology = os::Topology::detect();
  if (!topology) return std::string("the cores of this host cannot be read; say --cores COUNT");
  if (const std::string bad = os::fault_of(server.lease.cores, topology->cores()); !bad.empty())
    return "pool.cores: " + bad + "; change the setting, or say --cores COUNT";
  const auto leases = dispatch::UnguardedCores(*topology, false).lease(server.lease);
  if (!leases) return std::string("a server has no core on this host; say --cores COUNT");
  std::vector<CoreId> cores;
  for (const dispatch::CoreLease& lease : *leases) cores.push_back(lease.core);
  return cores;
}

}  // namespace corelane::tool
