// Whether an adapter keeps its active servants. Corelane has RETAIN.
#include "orb/core/policies/policy_kind.h"

namespace corelane::core::policies {

extern const PolicyKind servant_retention{
    .name = "PortableServer::ServantRetentionPolicy",
    .type = 21,
    .taker = PolicyKind::Taker::poa,
    .fallback = 0,
    .read =
        [](const any::Any& value) {
          return read_enumerator(value, "IDL:omg.org/PortableServer/ServantRetentionPolicyValue:1.0", 2, 0b01);
        },
};

}  // namespace corelane::core::policies
