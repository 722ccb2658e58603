#include "orb/core/policies/implicit_activation.h"

#include "orb/core/policies/id_assignment.h"

namespace corelane::core::policies {

const PolicyKind implicit_activation{
    .name = "PortableServer::ImplicitActivationPolicy",
    .type = 20,
    .taker = PolicyKind::Taker::poa,
    .fallback = not_implicitly,
    .read =
        [](const any::Any& value) {
          return read_enumerator(value, "IDL:omg.org/PortableServer/ImplicitActivationPolicyValue:1.0", 2, 0b11);
        },
    // Implicit activation needs an adapter that chooses ids. CORBA 3.3 part 1, 15.3.8.5.
    .fits =
        [](PolicyValue value, const PolicyValues& all) noexcept {
          return value == not_implicitly || all.of(id_assignment) == system_id;
        },
};

}  // namespace corelane::core::policies
