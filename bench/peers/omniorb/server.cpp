// omniORB's echo server with its default, a thread for each connection. The runner chooses the transport with
// -ORBendPoint.
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"
#include "bench/peers/omniorb/servant.h"

int main(int argc, char** argv) try {
  peers::end_with_parent();
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4");
  (void)peers::server_options(argc, argv);
  CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
  PortableServer::POAManager_var(poa->the_POAManager())->activate();
  PortableServer::Servant_var<peers::OmniEcho> servant = new peers::OmniEcho;
  Peers::EchoServer_var reference = servant->_this();
  CORBA::String_var ior = orb->object_to_string(reference);
  peers::announce(ior.in());
  orb->run();
  return 0;
} catch (const CORBA::Exception& fault) {
  return peers::fail(fault._name());
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
