// Whether references outlive their adapter. Corelane has TRANSIENT; Poa::create_well_known() makes lasting references.
#include "orb/core/policies/policy_kind.h"

namespace corelane::core::policies {

extern const PolicyKind lifespan{
    .name = "PortableServer::LifespanPolicy",
    .type = 17,
    .taker = PolicyKind::Taker::poa,
    .fallback = 0,
    .read =
        [](const any::Any& value) {
          return read_enumerator(value, "IDL:omg.org/PortableServer/LifespanPolicyValue:1.0", 2, 0b01);
        },
};

}  // namespace corelane::core::policies
