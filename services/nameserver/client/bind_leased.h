// bind_leased() binds a name with a lease that was taken for this name alone.
// Threads: any; makes calls.
#pragma once

#include <string>

#include "CorelaneNamingC.h"
#include "orb/os/log.h"

namespace corelane::naming {

// Binds the name with the fresh lease. If that raises any exception, ends the lease before it raises it again. So
// neither the lease nor a name that was bound without an answer is left over. If the nameserver does not answer at all,
// both last until the lease expires.
inline void bind_leased(const CORBA::object_reference<Corelane::Naming::Directory>& directory,
                        const CosNaming::Name& name, const CORBA::object_reference<CORBA::Object>& object,
                        Corelane::Naming::LeaseId fresh, bool replace) try {
  directory->bind_leased(name, object, fresh, replace);
} catch (const CORBA::Exception&) {
  try {
    directory->nameserver()->end(fresh);
  } catch (const CORBA::Exception& why) {
    os::log::debug(std::string("naming: a lease without a name was not ended: ") + why.what());
  }
  throw;
}

}  // namespace corelane::naming
