// An omniORB server of interop.idl. It writes its references (Echo, Exchange) to standard output, and serves until
// standard input ends.
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>

#include "omni_exchange.h"
#include "omni_servant.h"

int main(int argc, char** argv) {
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
  PortableServer::Servant_var<interop::OmniEcho> servant = new interop::OmniEcho;
  const PortableServer::ObjectId_var id = poa->activate_object(servant);
  Interop::Echo_var echo = servant->_this();
  PortableServer::POAManager_var manager = poa->the_POAManager();
  manager->activate();
  const CORBA::String_var ior = orb->object_to_string(echo);
  interop::register_factories(orb);
  PortableServer::Servant_var<interop::OmniExchange> exchange = new interop::OmniExchange;
  const PortableServer::ObjectId_var exchange_id = poa->activate_object(exchange);
  InteropValues::Exchange_var exchange_reference = exchange->_this();
  const CORBA::String_var exchange_ior = orb->object_to_string(exchange_reference);
  std::cout << ior.in() << std::endl << exchange_ior.in() << std::endl;
  for (std::string ignored; std::getline(std::cin, ignored);) {
  }
  orb->destroy();
}
