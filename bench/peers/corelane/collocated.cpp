// Calls of an object in the same process. `--kind poa`: through the reference and the object adapter. `--kind direct`:
// by corelane::poa::direct(). `--kind virtual`: the servant's virtual function, for comparison.
#include "bench/peers/driver/collocated.h"

#include "bench/peers/corelane/servant.h"
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/poa/direct.h"

int main(int argc, char** argv) try {
  peers::end_with_parent();
  auto orb = CORBA::ORB_init(argc, argv);
  const auto options = peers::client_options(argc, argv);
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  auto servant = CORBA::make_reference<peers::CorelaneEcho>();
  const auto echo = servant->_this();
  if (options.kind == "poa")
    return peers::run_collocated(options.calls, [&](std::int64_t value) { return echo->ping(value); });
  if (options.kind == "direct") {
    const auto direct = corelane::poa::direct(echo);
    return peers::run_collocated(options.calls, [&](std::int64_t value) { return direct->ping(value); });
  }
  if (options.kind == "virtual") {
    peers::CorelaneEcho* volatile target = servant.get();  // volatile: the compiler must not see which class it is
    return peers::run_collocated(options.calls, [&](std::int64_t value) { return target->ping(value); });
  }
  return peers::fail("unknown --kind '" + options.kind + "'");
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
