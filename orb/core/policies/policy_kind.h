// PolicyKind describes one kind of policy: its number, which object takes it, how ORB::create_policy() reads its value,
// and which other policies it excludes. CORBA 3.3 part 1, 8.9. create_policy(), create_POA() and
// _set_policy_overrides() work with the table of kinds. They never ask which kind a policy is.
//
// A kind is one file in this folder and one line in the table of policy_kinds.cpp. Code that obeys a policy asks
// PolicyValues for its value.
//
// Threads: constant objects and values. No function is called for a call.
//
// The folder orb/core/policies has the kinds of policies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orb/any/any.h"
#include "orb/base/expected.h"
#include "orb/base/registry.h"

namespace corelane::core {

// The reasons of CORBA::PolicyError.
enum class PolicyFault : std::int16_t {
  bad_policy = 0,
  unsupported_policy = 1,
  bad_policy_type = 2,
  bad_policy_value = 3,
  unsupported_policy_value = 4,
};

// The value of a policy, as a number: an enumerator, or a time.
using PolicyValue = std::uint64_t;

class PolicyValues;

struct PolicyKind {
  enum class Taker : std::uint8_t {
    poa,        // create_POA()
    reference,  // _set_policy_overrides() of a reference
  };

  std::string_view name;  // for messages: "PortableServer::LifespanPolicy"
  std::uint32_t type;     // CORBA::PolicyType
  Taker taker;
  PolicyValue fallback;  // the value without such a policy
  // Reads the argument of create_policy().
  Expected<PolicyValue, PolicyFault> (*read)(const any::Any& value);
  // Returns whether the value goes together with those of the other kinds. Null: with all.
  bool (*fits)(PolicyValue value, const PolicyValues& all) noexcept = nullptr;
};

// Returns all kinds, at most PolicyValues::most.
Registry<PolicyKind> policy_kinds() noexcept;
// Returns the kind with this number; null: there is none.
const PolicyKind* find_policy_kind(std::uint32_t type) noexcept;

// PolicyValues holds one value of each kind: the one that was set, or the default.
class PolicyValues {
 public:
  static constexpr std::size_t most = 32;

  // Sets the value of a kind. Returns false, and changes nothing, if a different value was set before.
  bool set(const PolicyKind& kind, PolicyValue value) noexcept;
  bool has(const PolicyKind& kind) const noexcept { return (set_ >> place_of(kind) & 1) != 0; }
  PolicyValue of(const PolicyKind& kind) const noexcept { return has(kind) ? values_[place_of(kind)] : kind.fallback; }
  // Returns whether the value of the kind goes together with all others.
  bool fits(const PolicyKind& kind) const noexcept { return kind.fits == nullptr || kind.fits(of(kind), *this); }

 private:
  static std::size_t place_of(const PolicyKind& kind) noexcept;

  std::array<PolicyValue, most> values_{};
  std::uint32_t set_ = 0;  // a mask
};

// Reads an enumerator from a value of the enumeration `id`, which has `count` enumerators. `supported` is a mask of
// those that Corelane has.
Expected<PolicyValue, PolicyFault> read_enumerator(const any::Any& value, std::string_view id, std::uint32_t count,
                                                   std::uint32_t supported);

}  // namespace corelane::core
