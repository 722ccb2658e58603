// Corelane's echo server. The runner chooses transport, mode and waits with -ORB options.
#include "bench/peers/corelane/servant.h"
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"

int main(int argc, char** argv) try {
  peers::end_with_parent();
  auto orb = CORBA::ORB_init(argc, argv);
  (void)peers::server_options(argc, argv);
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  auto servant = CORBA::make_reference<peers::CorelaneEcho>();
  peers::announce(orb->object_to_string(servant->_this()));
  orb->run();
  return 0;
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
