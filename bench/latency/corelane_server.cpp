// Corelane's server of the latency benchmark: a servant without a contract, so every call passes the queue, the manager
// and the best-effort executor. -ORB options configure it like any server.
#include "bench/latency/load.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "pingS.h"

namespace {

class EchoServant : public virtual CORBA::servant_traits<Bench::Echo>::base_type {
 public:
  std::int64_t ping(std::int64_t value) override { return value; }
};

int serve(int argc, char** argv) {
  auto orb = CORBA::ORB_init(argc, argv);
  if (argc != 1) return latency::usage(argv[0], "[-ORB options]");
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  auto servant = CORBA::make_reference<EchoServant>();
  latency::announce(orb->object_to_string(servant->_this()));
  orb->run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return serve(argc, argv); } catch (const std::exception& fault) {
  std::fprintf(stderr, "corelane: %s\n", fault.what());
  return 1;
}
