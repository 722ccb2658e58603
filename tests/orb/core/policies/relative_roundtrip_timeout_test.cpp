// Tests a timeout that a policy sets for one reference.
#include "orb/core/policies/relative_roundtrip_timeout.h"

#include <limits>

#include "orb/base/minor.h"
#include "orb/corba/policies.h"
#include "tests/support/peers/acceptor.h"
#include "tests/support/probe_servant.h"

namespace relative_roundtrip_timeout_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

constexpr std::uint64_t in_a_millisecond = 10'000;  // of 100 ns

CORBA::PolicyList timeout(TestOrb& orb, std::uint64_t time) {
  CORBA::Any value;
  value <<= time;
  return {orb->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, value)};
}

CORBA::object_reference<Probing::Probe> with(const CORBA::object_reference<Probing::Probe>& probe,
                                             const CORBA::PolicyList& policies) {
  const auto object = probe->_set_policy_overrides(policies, core::SetOverrideType::SET_OVERRIDE);
  return core::make_stub<Probing::Probe>(object->_reference());
}

}  // namespace

TEST_CASE("a call through a reference with a timeout of its own ends then") {
  Acceptor silent;
  TestOrb client({"-ORBTimeoutRequest", "0s"});  // others wait for ever
  const auto probe = with(unchecked_probe(client, silent.corbaloc()), timeout(client, in_a_millisecond));
  try {
    probe->ping();
    FAIL("it was answered");
  } catch (const CORBA::TIMEOUT& late) {
    CHECK(late.minor() == minor::deadline_passed);
  }
}

TEST_CASE("a timeout is of the new reference alone") {
  ProbeServer server;
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  const auto impatient = with(probe, timeout(client, in_a_millisecond));
  CHECK(probe->_reference()->request_timeout() == std::chrono::seconds{30});
  CHECK(impatient->_reference()->request_timeout() == std::chrono::milliseconds{1});
  CHECK(impatient->_is_equivalent(probe));
  CHECK(with(impatient, {})->_reference()->request_timeout() == std::chrono::seconds{30});
}

TEST_CASE("a reference names the timeout that was set for it") {
  ProbeServer server;
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  constexpr auto type = Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE;
  CHECK_FALSE(probe->_get_policy(type));
  const auto set = with(probe, timeout(client, in_a_millisecond))->_get_policy(type);
  REQUIRE(set);
  CHECK(set->policy_type() == type);
  CHECK(set->copy()->policy_type() == type);
  CHECK_THROWS_AS(probe->_get_policy(PortableServer::LIFESPAN_POLICY_ID), CORBA::INV_POLICY);
}

TEST_CASE("policies that are added leave the others as they were") {
  ProbeServer server;
  TestOrb client;
  const auto impatient = with(probe_of(client, server.ior()), timeout(client, in_a_millisecond));
  const auto same = impatient->_set_policy_overrides({}, core::SetOverrideType::ADD_OVERRIDE);
  CHECK(same->_reference()->request_timeout() == std::chrono::milliseconds{1});
}

TEST_CASE("the longest timeout is finite, and a timeout of zero is refused") {
  TestOrb orb;
  const Duration longest = core::policies::roundtrip_time_of(std::numeric_limits<std::uint64_t>::max());
  CHECK(longest > std::chrono::hours{24 * 365});
  CHECK(longest < Duration::max());
  CHECK_THROWS_AS(timeout(orb, 0), CORBA::PolicyError);
}

}  // namespace relative_roundtrip_timeout_test
