// NamingSession: an ORB, the naming service that it finds, and a name, for one command.
// Threads: none of its own but the ORB's.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>

#include "CorelaneNamingC.h"
#include "CosNamingC.h"
#include "orb/giop/name_text.h"
#include "services/corelane/calling_orb.h"
#include "services/corelane/naming.h"
#include "services/corelane/naming_fault.h"

namespace corelane::tool {

using NamingContextRef = IDL::traits<CosNaming::NamingContext>::ref_type;
using DirectoryRef = IDL::traits<Corelane::Naming::Directory>::ref_type;
using NamingStatus = Corelane::Naming::Status;

// What is wrong, as a sentence that says what to do next.
struct NamingFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct NamingSession {
  CORBA::ORB& orb;
  NamingContextRef root;
  giop::Name name;  // empty: the root
};

enum class NameUse : std::uint8_t {
  any,     // empty: the root
  given,   // an empty one is a fault
  to_bind  // the same; what is on its way may be made
};

// The naming service that the ORB's settings name, or this host's. Raises as resolve_initial_references() does, and
// NamingFault where no nameserver of this host can be used; `option` is by what the command lets another be named.
CORBA::object_reference<CORBA::Object> naming_service_of(CORBA::ORB& orb,
                                                         const std::string& option = "--service REFERENCE");

// What is wrong where the nameserver's store is away; and a line of it on `err`, behind what may be out of date.
std::string stale_text(const NamingStatus& state);
void warn_if_stale(const std::string& who, const NamingSession& session, std::ostream& err);

// Does `work` with a session; what it raises, and whatever keeps it from beginning, becomes a sentence on `err`, which
// begins with `who`.
int with_naming(const std::string& who, const NamingOptions& options, NameUse use, std::ostream& err,
                const std::function<int(NamingSession& session)>& work);

// The context of that name; the root for none. Raises what resolve() does, CosNaming's NotFound (not_context) where it
// leads to another object, and NamingFault where that does not answer.
NamingContextRef context_of(const NamingSession& session, const giop::Name& name);

// Our own nameserver's context; nil where the service is another's.
inline DirectoryRef directory_of(const NamingContextRef& context) {
  return IDL::traits<Corelane::Naming::Directory>::narrow(context);
}

}  // namespace corelane::tool
