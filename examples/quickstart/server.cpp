#include <iostream>

#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/core/stop_signals.h"
#include "plantS.h"

class Controller : public virtual CORBA::servant_traits<Plant::Controller>::base_type {
 public:
  double step(double reading) override { return -2.0 * reading; }
  void configure(const std::string&) override {}
};

int main(int argc, char** argv) try {
  auto orb = CORBA::ORB_init(argc, argv);
  if (argc != 1) return std::cerr << "usage: " << argv[0] << " [-ORBOption VALUE ...]\n", 2;
  const corelane::core::StopSignals stop(*orb);  // SIGTERM and SIGINT end run()
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  auto servant = CORBA::make_reference<Controller>();
  std::cout << orb->object_to_string(servant->_this()) << std::endl;
  if (!std::cout) return std::cerr << "server: standard output did not take the reference\n", 1;
  orb->run();
  orb->destroy();
} catch (const std::exception& failure) {
  std::cerr << "server: " << failure.what() << '\n';
  return 1;
}
