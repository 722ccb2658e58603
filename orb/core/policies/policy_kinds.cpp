// This file is the table of the policies of this folder.
#include <iterator>

#include "orb/core/policies/policy_kind.h"

// Each line names the object that a file of this folder defines.
#define CORELANE_POLICIES(POLICY) \
  POLICY(thread)                  \
  POLICY(lifespan)                \
  POLICY(id_uniqueness)           \
  POLICY(id_assignment)           \
  POLICY(implicit_activation)     \
  POLICY(servant_retention)       \
  POLICY(request_processing)      \
  POLICY(relative_roundtrip_timeout)

namespace corelane::core {
namespace policies {

#define CORELANE_DECLARE(name) extern const PolicyKind name;
CORELANE_POLICIES(CORELANE_DECLARE)
#undef CORELANE_DECLARE

}  // namespace policies

Registry<PolicyKind> policy_kinds() noexcept {
#define CORELANE_LIST(name) &policies::name,
  static constexpr const PolicyKind* all[] = {CORELANE_POLICIES(CORELANE_LIST)};
#undef CORELANE_LIST
  static_assert(std::size(all) <= PolicyValues::most);
  return all;
}

}  // namespace corelane::core
