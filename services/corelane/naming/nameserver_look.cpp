#include "services/corelane/naming/nameserver_look.h"

#include "orb/core/client/name_service.h"
#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "services/corelane/naming/naming_session.h"

namespace corelane::tool {
namespace {

void look(CORBA::ORB& orb, NameserverLook& seen) {
  const auto found = naming_service_of(orb, "-ORBNamingService REFERENCE");
  const core::Address* const address = found ? found->_reference()->address() : nullptr;
  const std::string at = address == nullptr ? "" : " (looked for at " + transport::to_string(address->endpoints) + ")";
  const auto directory = IDL::traits<Corelane::Naming::Directory>::narrow(found);
  if (!directory) {
    if (IDL::traits<CosNaming::NamingContext>::narrow(found))
      seen.answers = "another ORB's answers" + at;
    else
      seen.absence = "the object that answers is no naming service" + at;
    return;
  }
  seen.answers = "answers" + at;
  try {
    const auto state = directory->nameserver()->state();
    seen.answers += "; names are in " + state.store() + ", " + (state.stale() ? "stale" : "fresh");
    seen.trouble = state.stale() ? stale_text(state) : state.remark();
  } catch (const CORBA::Exception& why) {
    seen.trouble = std::string("it does not say how its store is: ") + why.what() +
                   "; corelane may not understand a corelane-nameserver of another version";
  }
}

}  // namespace

NameserverLook look_for_nameserver(const std::vector<std::string>& orb_options) {
  std::vector<std::string> options{"-ORBTimeoutRequest", "5s"};  // the given options come later and override it
  options.insert(options.end(), orb_options.begin(), orb_options.end());
  NameserverLook seen;
  try {
    const CallingOrb orb("corelane-doctor", options);
    seen.is_named = core::names_a_service(orb->settings());
    look(*orb, seen);
  } catch (const std::exception& fault) {
    seen.absence = fault.what();
  }
  return seen;
}

}  // namespace corelane::tool
