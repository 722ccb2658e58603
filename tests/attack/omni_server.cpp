// corelane-attack-omni-server is an omniORB server of a Probe, which the soak test attacks beside Corelane's. It prints
// its reference and an empty line. It serves until its standard input ends.
#include <iostream>
#include <mutex>
#include <string>

#include "probe.hh"

namespace {

class Servant : public POA_Probing::Probe {
 public:
  void ping() override {}
  CORBA::Long add(CORBA::Long a, CORBA::Long b) override { return a + b; }
  char* echo(const char* text) override { return CORBA::string_dup(text); }
  void note(const char*) override {}
  char* name() override {
    const std::lock_guard lock(mutex_);
    return CORBA::string_dup(name_.c_str());
  }
  void name(const char* value) override {
    const std::lock_guard lock(mutex_);
    name_ = value;
  }
  Probing::Probe_ptr pass(Probing::Probe_ptr other) override {
    if (!CORBA::is_nil(other)) other->ping();
    return Probing::Probe::_duplicate(other);
  }

 private:
  std::mutex mutex_;
  std::string name_ = "probe";
};

}  // namespace

int main(int argc, char** argv) try {
  // The largest message that a Corelane server accepts by default.
  const char* options[][2] = {{"endPoint", "giop:tcp:127.0.0.1:"}, {"giopMaxMsgSize", "16777216"}, {nullptr, nullptr}};
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4", options);
  CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
  PortableServer::POAManager_var(poa->the_POAManager())->activate();
  PortableServer::Servant_var<Servant> servant = new Servant;
  Probing::Probe_var probe = servant->_this();
  const CORBA::String_var ior = orb->object_to_string(probe);
  std::cout << ior.in() << std::endl << std::endl;
  for (std::string ignored; std::getline(std::cin, ignored);) {
  }
  return 0;  // without shutting the ORB down, because attackers hold its threads
} catch (const CORBA::Exception& fault) {
  std::cerr << "corelane-attack-omni-server: " << fault._name() << "\n";
  return 2;
}
