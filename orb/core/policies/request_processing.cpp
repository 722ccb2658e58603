// How an adapter finds the servant of a request. Corelane has USE_ACTIVE_OBJECT_MAP_ONLY.
#include "orb/core/policies/policy_kind.h"

namespace corelane::core::policies {

extern const PolicyKind request_processing{
    .name = "PortableServer::RequestProcessingPolicy",
    .type = 22,
    .taker = PolicyKind::Taker::poa,
    .fallback = 0,
    .read =
        [](const any::Any& value) {
          return read_enumerator(value, "IDL:omg.org/PortableServer/RequestProcessingPolicyValue:1.0", 3, 0b001);
        },
};

}  // namespace corelane::core::policies
