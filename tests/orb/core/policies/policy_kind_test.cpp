// Tests what holds for each kind of policy in the table, and the values that objects keep.
#include "orb/core/policies/policy_kind.h"

#include <catch2/catch.hpp>
#include <set>

#include "orb/corba/policies.h"
#include "orb/core/policies/id_assignment.h"
#include "orb/core/policies/implicit_activation.h"

using namespace corelane;
using namespace corelane::core;

TEST_CASE("each kind of policy has a number and a name of its own, and is found by its number") {
  std::set<std::uint32_t> types;
  std::set<std::string_view> names;
  for (const PolicyKind* const kind : policy_kinds()) {
    CAPTURE(kind->name);
    CHECK(types.insert(kind->type).second);
    CHECK(names.insert(kind->name).second);
    CHECK(find_policy_kind(kind->type) == kind);
  }
  CHECK(find_policy_kind(0) == nullptr);
}

TEST_CASE("the defaults of all kinds of policies go together") {
  const PolicyValues values;
  for (const PolicyKind* const kind : policy_kinds()) {
    CAPTURE(kind->name);
    CHECK(values.of(*kind) == kind->fallback);
    CHECK(values.fits(*kind));
  }
}

TEST_CASE("no kind of policy takes a value of another type") {
  CORBA::Any text, nothing;
  text <<= "USER_ID";
  for (const PolicyKind* const kind : policy_kinds())
    for (const CORBA::Any& value : {text, nothing}) {
      CAPTURE(kind->name);
      const auto read = kind->read(value);
      REQUIRE_FALSE(read);
      CHECK(read.error() == PolicyFault::bad_policy_value);
    }
}

TEST_CASE("a value is set once for each kind") {
  PolicyValues values;
  CHECK(values.set(policies::id_assignment, policies::user_id));
  CHECK(values.set(policies::id_assignment, policies::user_id));
  CHECK_FALSE(values.set(policies::id_assignment, policies::system_id));
  CHECK(values.of(policies::id_assignment) == policies::user_id);
  CHECK_FALSE(values.has(policies::implicit_activation));
}

TEST_CASE("implicit activation needs an adapter that chooses ids") {
  PolicyValues values;
  CHECK(values.set(policies::implicit_activation, policies::implicitly));
  CHECK(values.fits(policies::implicit_activation));
  CHECK(values.set(policies::id_assignment, policies::user_id));
  CHECK_FALSE(values.fits(policies::implicit_activation));
}
