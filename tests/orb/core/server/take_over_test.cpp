// Tests requests whose connections are given to another thread while they run. Meant to run under ThreadSanitizer, too.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/probe_servant.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

namespace take_over_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

constexpr int clients = 4, calls = 100;

// With this patience the monitor takes over at all points of a request. All ORBs of a process have the same.
const std::vector<std::string> impatient{"-ORBBestEffortPatience", "1us"};

std::vector<std::string> impatient_at(const std::string& endpoint) {
  std::vector<std::string> options = impatient;
  options.insert(options.end(), {"-ORBEndpointListen", endpoint});
  return options;
}

// add() runs for different times. Some calls throw, and some wait in a call of their own.
class UnevenServant final : public ProbeServant {
 public:
  std::int32_t add(std::int32_t a, std::int32_t b) override {
    ++runs_;
    for (int i = 0; i < a % 5 * 4; ++i) std::this_thread::yield();
    if (a % 7 == 3) throw std::runtime_error("as asked");
    if (a % 11 == 5) fail(nested);
    return a + b;
  }
  int runs() const { return runs_; }

 private:
  std::atomic<int> runs_{0};
};

// Returns how many calls did not give the sum.
int call_all(const CORBA::object_reference<Probing::Probe>& probe, int client) {
  int failed = 0;
  for (int i = 0; i < calls; ++i) try {
      failed += probe->add(i, client) != i + client;
    } catch (const CORBA::SystemException&) {
      ++failed;
    }
  return failed;
}

int failing_calls() {
  int count = 0;
  for (int i = 0; i < calls; ++i) count += i % 7 == 3 || i % 11 == 5;
  return count;
}

}  // namespace

TEST_CASE("each request is answered once, whenever another thread takes over its connection") {
  const CapturedErrors errors;  // the log of the servant that throws
  const TempDirectory directory;
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "channel:");
  ProbeServer other(impatient);
  TestOrb server(impatient_at(kind == "channel:" ? kind + directory / "server" : kind));
  server.root()->the_POAManager()->activate();
  const auto servant = CORBA::make_reference<UnevenServant>();
  servant->next(probe_of(server, other.ior()));
  const std::string ior = server->object_to_string(server.root()->servant_to_reference(servant));
  std::atomic<int> failed{0};
  {
    std::vector<std::jthread> threads;
    for (int client = 0; client < clients; ++client)
      threads.emplace_back([&, client] {
        TestOrb orb(impatient);
        failed += call_all(probe_of(orb, ior), client);
      });
  }
  CHECK(servant->runs() == clients * calls);
  CHECK(failed == clients * failing_calls());
  servant->next({});
  // The end of the ORB waits for requests. A request that still counted would make it wait forever.
}

}  // namespace take_over_test
