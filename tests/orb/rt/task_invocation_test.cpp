// Runs the suite of invocations with every call as a job of an admitted task: through the manager, directly, and also
// through channels, on any thread that reads the call.
#include <optional>

#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// The period is so short that no call of these tests is early. Admission is off.
constexpr Contract no_wait{.period = 1ns, .deadline = 5ns, .budget = 1ns, .jitter = 3ns};

class AsTasks {
 public:
  explicit AsTasks(const std::string& mode, const std::string& listen = "127.0.0.1:0")
      : server_({"-ORBDispatchMode", mode, "-ORBDispatchAdmission", "off", "-ORBEndpointListen", listen}) {
    for (const char* operation :
         {"add", "ping", "step", "echo", "note", "_get_name", "_set_name", "pass", "fail", "block", "paced"})
      admit(reference_, operation);
  }
  CORBA::object_reference<Probing::Probe> probe() { return reference_; }
  // Returns a probe with its own task. More concurrent callers than the contract of the first task allows would be
  // refused.
  CORBA::object_reference<Probing::Probe> another_probe() {
    const auto other = probe_of(client_, server_.ior());
    admit(other, "add");
    return other;
  }
  CORBA::object_reference<Probing::Probe> server_reference() { return server_.reference; }
  ProbeServant& servant() { return *server_.servant; }
  CORBA::object_reference<PortableServer::POA> poa() { return server_.orb.root(); }

 private:
  void admit(const CORBA::object_reference<Probing::Probe>& reference, const std::string& operation) {
    auto task = rt::admit(reference, {.operation = operation, .contract = no_wait});
    REQUIRE(task);
    tasks_.push_back(std::move(*task));
  }

  ProbeServer server_;
  TestOrb client_;
  CORBA::object_reference<Probing::Probe> reference_ = probe_of(client_, server_.ior());
  std::vector<rt::Task> tasks_;
};

struct ByTheManager : AsTasks {
  ByTheManager() : AsTasks("manager") {}
};
struct Direct : AsTasks {
  Direct() : AsTasks("direct") {}
};

struct ByFollowers : AsTasks {
  ByFollowers() : AsTasks("leader-followers") {}
};

struct Place {
  const TempDirectory directory{};
};
struct DirectOverChannel : Place, AsTasks {
  DirectOverChannel() : AsTasks("direct", "channel:" + directory.path() + "/probe.sock") {}
};

using InvocationWays = WithFollowers<ByFollowers, ByTheManager, Direct, DirectOverChannel>;

}  // namespace

#include "tests/support/invocation_suite.h"
