// A Corelane server of interop.idl. It writes its references (Echo, Exchange) to standard output, and serves until
// standard input ends.
#include <iostream>
#include <string>

#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "tests/interop/echo_servant.h"
#include "tests/interop/exchange_servant.h"

int main(int argc, char** argv) {
  const auto orb = CORBA::ORB_init(argc, argv);
  const auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  const auto servant = CORBA::make_reference<interop::EchoServant>();
  const auto id = poa->activate_object(servant);
  poa->the_POAManager()->activate();
  interop::register_factories(orb);
  const auto exchange = CORBA::make_reference<interop::ExchangeServant>(poa);
  poa->activate_object(exchange);
  std::cout << orb->object_to_string(poa->servant_to_reference(servant)) << std::endl;
  std::cout << orb->object_to_string(poa->servant_to_reference(exchange)) << std::endl;
  for (std::string ignored; std::getline(std::cin, ignored);) {
  }
  orb->destroy();
}
