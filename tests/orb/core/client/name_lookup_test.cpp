// Tests a name service that does not answer, and the end of an ORB meanwhile.
#include <dlfcn.h>
#include <netdb.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "orb/core/lifecycle/orb_state.h"
#include "tests/support/probe_servant.h"

namespace name_lookup_test {
namespace {

constexpr const char* silent_host = "silent.invalid";
constexpr const char* unknown_host = "unknown.invalid";
constexpr const char* unanswered_host = "unanswered.invalid";
std::atomic<bool> asked{false}, answers{false};

}  // namespace

// Replaces the system's function, and calls that for every other name.
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  if (host != nullptr && std::strcmp(host, silent_host) == 0 && (hints->ai_flags & AI_NUMERICHOST) == 0) {
    asked = true;
    asked.notify_all();
    answers.wait(false);
    return EAI_NONAME;
  }
  if (host != nullptr && std::strcmp(host, unknown_host) == 0) return EAI_NONAME;
  if (host != nullptr && std::strcmp(host, unanswered_host) == 0)
    return (hints->ai_flags & AI_NUMERICHOST) != 0 ? EAI_NONAME : EAI_AGAIN;
  using Original = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto original = reinterpret_cast<Original>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return original(host, service, hints, found);
}

using namespace corelane;
using namespace corelane::testing;

namespace {

CORBA::object_reference<Probing::Probe> probe_at(TestOrb& client, const char* host) {
  giop::Ior ior{.type_id = "IDL:Probing/Probe:1.0",
                .profiles = {core::profile_of({{host, 1}}, std::as_bytes(std::span("key")))}};
  return core::make_stub<Probing::Probe>(std::make_shared<core::Reference>(client.orb.shared(), std::move(ior)));
}

}  // namespace

TEST_CASE("a host whose name does not resolve is TRANSIENT, and the text says so") {
  const auto [host, code] =
      GENERATE(std::pair{unknown_host, minor::unknown_host}, std::pair{unanswered_host, minor::no_name_service});
  TestOrb client;
  const auto probe = probe_at(client, host);
  try {
    probe->ping();
    FAIL("it was called");
  } catch (const CORBA::TRANSIENT& exception) {
    CHECK(exception.minor() == code);
    CHECK_THAT(exception.what(), Catch::Contains(std::string("cannot connect to ") + host) &&
                                     Catch::Contains("the host's name does not resolve"));
  }
}

TEST_CASE("an ORB that ends does not wait for a name service, and the thread that asked it ends, too") {
  asked = false, answers = false;
  TestOrb client({"-ORBTimeoutConnect", "366000s", "-ORBTimeoutRequest", "0s"});
  const auto probe = probe_at(client, silent_host);
  std::promise<Error> ended;
  std::jthread calls([&] {
    try {
      probe->ping();
    } catch (const CORBA::SystemException& exception) {
      ended.set_value(exception.error());
    }
  });
  asked.wait(false);
  client->destroy();
  CHECK(ended.get_future().get() == errors::orb_destroyed);
  answers = true;
  answers.notify_all();
}

}  // namespace name_lookup_test
