// Whether a servant has one object id. Corelane has UNIQUE_ID.
#include "orb/core/policies/policy_kind.h"

namespace corelane::core::policies {

extern const PolicyKind id_uniqueness{
    .name = "PortableServer::IdUniquenessPolicy",
    .type = 18,
    .taker = PolicyKind::Taker::poa,
    .fallback = 0,
    .read =
        [](const any::Any& value) {
          return read_enumerator(value, "IDL:omg.org/PortableServer/IdUniquenessPolicyValue:1.0", 2, 0b01);
        },
};

}  // namespace corelane::core::policies
