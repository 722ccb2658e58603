#include "orb/core/policies/id_assignment.h"

namespace corelane::core::policies {

const PolicyKind id_assignment{
    .name = "PortableServer::IdAssignmentPolicy",
    .type = 19,
    .taker = PolicyKind::Taker::poa,
    .fallback = system_id,
    .read =
        [](const any::Any& value) {
          return read_enumerator(value, "IDL:omg.org/PortableServer/IdAssignmentPolicyValue:1.0", 2, 0b11);
        },
};

}  // namespace corelane::core::policies
