// NamingSession holds an ORB, the naming service that it found, and a name, for one command.
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
#include "services/corelane/naming/naming.h"
#include "services/corelane/naming/naming_fault.h"
#include "services/corelane/references/calling_orb.h"

namespace corelane::tool {

using NamingContextRef = IDL::traits<CosNaming::NamingContext>::ref_type;
using DirectoryRef = IDL::traits<Corelane::Naming::Directory>::ref_type;
using NamingStatus = Corelane::Naming::Status;

// An error, as a sentence that says what to do.
struct NamingFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct NamingSession {
  CORBA::ORB& orb;
  NamingContextRef root;
  giop::Name name;  // empty: the root
};

enum class NameUse : std::uint8_t {
  any,     // an empty name means the root
  given,   // an empty name is a fault
  to_bind  // as `given`; missing contexts on the way may be made
};

// Returns the naming service that the ORB's settings name, or this host's. Raises what resolve_initial_references()
// raises, and NamingFault if no nameserver of this host can be used. `option` is the command's option that names
// another.
CORBA::object_reference<CORBA::Object> naming_service_of(CORBA::ORB& orb,
                                                         const std::string& option = "--service REFERENCE");

// stale_text() returns what is wrong if the nameserver's store is away. warn_if_stale() writes it to `err`, after
// results that may be out of date.
std::string stale_text(const NamingStatus& state);
void warn_if_stale(const std::string& who, const NamingSession& session, std::ostream& err);

// Calls `work` with a session. Its exceptions, and faults before it starts, become a sentence on `err` that begins with
// `who`.
int with_naming(const std::string& who, const NamingOptions& options, NameUse use, std::ostream& err,
                const std::function<int(NamingSession& session)>& work);

// Returns the context of that name; the root for an empty name. Raises what resolve() raises; CosNaming's NotFound
// (not_context) if the name leads to another object; and NamingFault if that object does not answer.
NamingContextRef context_of(const NamingSession& session, const giop::Name& name);

// Returns the context of a Corelane nameserver; nil if the service is another one.
inline DirectoryRef directory_of(const NamingContextRef& context) {
  return IDL::traits<Corelane::Naming::Directory>::narrow(context);
}

}  // namespace corelane::tool
