// How requests of an adapter share threads. Corelane has ORB_CTRL_MODEL: several may run at one time.
#include "orb/core/policies/policy_kind.h"

namespace corelane::core::policies {

extern const PolicyKind thread{
    .name = "PortableServer::ThreadPolicy",
    .type = 16,
    .taker = PolicyKind::Taker::poa,
    .fallback = 0,
    .read =
        [](const any::Any& value) {
          return read_enumerator(value, "IDL:omg.org/PortableServer/ThreadPolicyValue:1.0", 3, 0b001);
        },
};

}  // namespace corelane::core::policies
