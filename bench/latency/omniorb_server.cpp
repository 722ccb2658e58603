// The omniORB server of the latency benchmark, with its defaults: a thread for each connection. [unix]: over Unix
// sockets.
#include <ping.hh>
#include <string_view>

#include "bench/latency/load.h"

namespace {

class EchoServant : public POA_Bench::Echo {
 public:
  CORBA::LongLong ping(CORBA::LongLong value) override { return value; }
};

}  // namespace

int main(int argc, char** argv) {
  const bool local = argc > 1 && std::string_view(argv[1]) == "unix";
  const char* options[][2] = {{"endPoint", local ? "giop:unix:" : "giop:tcp:127.0.0.1:"}, {nullptr, nullptr}};
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4", options);
  CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
  PortableServer::POAManager_var(poa->the_POAManager())->activate();
  PortableServer::Servant_var<EchoServant> servant = new EchoServant;
  Bench::Echo_var reference = servant->_this();
  CORBA::String_var ior = orb->object_to_string(reference);
  latency::announce(ior.in());
  orb->run();
}
