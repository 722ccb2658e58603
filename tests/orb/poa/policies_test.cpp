// Tests create_policy(), and adapters that were made with policies.
#include "orb/corba/policies.h"

#include <string>

#include "orb/base/minor.h"
#include "tests/support/probe_servant.h"

namespace policies_test {

using namespace corelane;
using namespace corelane::testing;
using namespace PortableServer;

namespace {

struct Policies {
  TestOrb orb;
  CORBA::object_reference<POA> root = orb.root();
  CORBA::servant_reference<ProbeServant> servant = CORBA::make_reference<ProbeServant>();

  template <typename T>
  CORBA::object_reference<CORBA::Policy> policy(CORBA::PolicyType type, T value) {
    CORBA::Any any;
    any <<= value;
    return orb->create_policy(type, any);
  }
  CORBA::object_reference<CORBA::Policy> ids(IdAssignmentPolicyValue value) {
    return policy(ID_ASSIGNMENT_POLICY_ID, value);
  }
  CORBA::object_reference<CORBA::Policy> activation(ImplicitActivationPolicyValue value) {
    return policy(IMPLICIT_ACTIVATION_POLICY_ID, value);
  }
  template <typename T>
  CORBA::PolicyErrorCode fault(CORBA::PolicyType type, T value) {
    try {
      policy(type, value);
    } catch (const CORBA::PolicyError& error) {
      return error.reason();
    }
    return -1;
  }
  // Returns the place that InvalidPolicy names, or -1.
  int invalid(const CORBA::PolicyList& list) {
    try {
      root->create_POA("invalid", nullptr, list);
    } catch (const POA::InvalidPolicy& exception) {
      return exception.index();
    }
    return -1;
  }
};

}  // namespace

TEST_CASE_METHOD(Policies, "each policy of the standard has a supported value") {
  CHECK(policy(THREAD_POLICY_ID, ThreadPolicyValue::ORB_CTRL_MODEL)->policy_type() == THREAD_POLICY_ID);
  CHECK(policy(LIFESPAN_POLICY_ID, LifespanPolicyValue::TRANSIENT)->policy_type() == LIFESPAN_POLICY_ID);
  CHECK(policy(ID_UNIQUENESS_POLICY_ID, IdUniquenessPolicyValue::UNIQUE_ID));
  CHECK(ids(IdAssignmentPolicyValue::USER_ID));
  CHECK(ids(IdAssignmentPolicyValue::SYSTEM_ID));
  CHECK(activation(ImplicitActivationPolicyValue::IMPLICIT_ACTIVATION));
  CHECK(activation(ImplicitActivationPolicyValue::NO_IMPLICIT_ACTIVATION));
  CHECK(policy(SERVANT_RETENTION_POLICY_ID, ServantRetentionPolicyValue::RETAIN));
  CHECK(policy(REQUEST_PROCESSING_POLICY_ID, RequestProcessingPolicyValue::USE_ACTIVE_OBJECT_MAP_ONLY));
}

TEST_CASE_METHOD(Policies, "create_policy says what is wrong") {
  CHECK(fault(4711, LifespanPolicyValue::TRANSIENT) == CORBA::BAD_POLICY_TYPE);
  CHECK(fault(LIFESPAN_POLICY_ID, ThreadPolicyValue::ORB_CTRL_MODEL) == CORBA::BAD_POLICY_VALUE);
  CHECK(fault(LIFESPAN_POLICY_ID, std::uint32_t{0}) == CORBA::BAD_POLICY_VALUE);
  CHECK(fault(LIFESPAN_POLICY_ID, static_cast<LifespanPolicyValue>(2)) == CORBA::BAD_POLICY_VALUE);
  CHECK(fault(LIFESPAN_POLICY_ID, LifespanPolicyValue::PERSISTENT) == CORBA::UNSUPPORTED_POLICY_VALUE);
  CHECK(fault(ID_UNIQUENESS_POLICY_ID, IdUniquenessPolicyValue::MULTIPLE_ID) == CORBA::UNSUPPORTED_POLICY_VALUE);
  try {
    policy(LIFESPAN_POLICY_ID, LifespanPolicyValue::PERSISTENT);
  } catch (const CORBA::PolicyError& error) {
    CHECK(std::string(error.what()) ==
          "CORBA::PolicyError: PortableServer::LifespanPolicy: Corelane does not support this value");
  }
}

TEST_CASE_METHOD(Policies, "a value that came over the wire makes a policy, too") {
  CORBA::Any sent, received;
  sent <<= IdAssignmentPolicyValue::USER_ID;
  cdr::Writer writer;
  encode(writer, sent);
  cdr::Reader reader(writer.bytes());
  REQUIRE(decode(reader, received));
  CHECK(orb->create_policy(ID_ASSIGNMENT_POLICY_ID, received)->policy_type() == ID_ASSIGNMENT_POLICY_ID);
}

TEST_CASE_METHOD(Policies, "an adapter with an empty list of policies has the defaults of the standard") {
  const auto poa = root->create_POA("defaults", nullptr, {});
  CHECK_THROWS_AS(poa->servant_to_id(servant), POA::ServantNotActive);
  try {
    poa->activate_object_with_id(string_to_ObjectId("mine"), servant);
    FAIL("it was activated");
  } catch (const CORBA::BAD_PARAM& refusal) {
    CHECK(refusal.minor() == (minor::omg | 14));
  }
  const auto id = poa->activate_object(servant);
  CHECK(poa->servant_to_id(servant) == id);
  poa->deactivate_object(id);
  poa->activate_object_with_id(id, servant);  // the adapter chose it
  CHECK(poa->create_reference(Probing::Probe::_id));
}

TEST_CASE_METHOD(Policies, "an adapter with ids of the program chooses none") {
  const auto poa = root->create_POA("ids", nullptr, {ids(IdAssignmentPolicyValue::USER_ID)});
  CHECK_THROWS_AS(poa->activate_object(servant), POA::WrongPolicy);
  CHECK_THROWS_AS(poa->create_reference(Probing::Probe::_id), POA::WrongPolicy);
  poa->activate_object_with_id(string_to_ObjectId("mine"), servant);
  CHECK(ObjectId_to_string(poa->servant_to_id(servant)) == "mine");
}

TEST_CASE_METHOD(Policies, "an adapter with implicit activation activates servants when it is asked for their ids") {
  const auto poa =
      root->create_POA("implicit", nullptr, {activation(ImplicitActivationPolicyValue::IMPLICIT_ACTIVATION)});
  const auto id = poa->servant_to_id(servant);
  CHECK(poa->id_to_servant(id).get() == servant.get());
}

TEST_CASE_METHOD(Policies, "create_POA names the policy that is wrong") {
  CORBA::Any time;
  time <<= std::uint64_t{1};
  const auto for_references = orb->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, time);
  const auto user = ids(IdAssignmentPolicyValue::USER_ID), system = ids(IdAssignmentPolicyValue::SYSTEM_ID);
  const auto implicit = activation(ImplicitActivationPolicyValue::IMPLICIT_ACTIVATION);
  CHECK(invalid({user, for_references}) == 1);
  CHECK(invalid({nullptr}) == 0);
  CHECK(invalid({user, user, system}) == 2);
  CHECK(invalid({user, implicit}) == 1);
  CHECK(invalid({implicit, user}) == 0);
  CHECK_THROWS_AS(root->find_POA("invalid"), POA::AdapterNonExistent);
}

TEST_CASE_METHOD(Policies, "an adapter without a list of policies has no restrictions") {
  const auto poa = root->create_POA("free", nullptr);
  poa->activate_object_with_id(string_to_ObjectId("mine"), servant);
  CHECK(poa->servant_to_id(CORBA::make_reference<ProbeServant>()).size() > 0);
}

}  // namespace policies_test
