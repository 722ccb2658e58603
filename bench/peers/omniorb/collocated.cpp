// omniORB's call of an object in the same process. `--kind poa`: through the object adapter. `--kind shortcut`: with
// omniORB's own policy, which calls the servant without the adapter.
#include "bench/peers/driver/collocated.h"

#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"
#include "bench/peers/omniorb/servant.h"

namespace {

PortableServer::POA_var shortcut_poa(CORBA::ORB_ptr orb, PortableServer::POA_ptr root,
                                     PortableServer::POAManager_ptr manager) {
  CORBA::Any value;
  value <<= omniPolicy::LOCAL_CALLS_SHORTCUT;
  CORBA::PolicyList policies;
  policies.length(2);
  policies[0] = orb->create_policy(omniPolicy::LOCAL_SHORTCUT_POLICY_TYPE, value);
  policies[1] = root->create_implicit_activation_policy(PortableServer::IMPLICIT_ACTIVATION);
  return root->create_POA("shortcut", manager, policies);
}

int run(int argc, char** argv) {
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4");
  const auto options = peers::client_options(argc, argv);
  CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
  PortableServer::POAManager_var manager = poa->the_POAManager();
  manager->activate();
  if (options.kind == "shortcut") poa = shortcut_poa(orb.in(), poa.in(), manager.in());
  PortableServer::Servant_var<peers::OmniEcho> servant = new peers::OmniEcho;
  PortableServer::ObjectId_var id = poa->activate_object(servant.in());
  CORBA::Object_var reference = poa->id_to_reference(id.in());
  Peers::EchoServer_var echo = Peers::EchoServer::_narrow(reference);
  return peers::run_collocated(options.calls, [&](std::int64_t value) { return echo->ping(value); });
}

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  return run(argc, argv);
} catch (const CORBA::Exception& fault) {
  return peers::fail(fault._name());
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
