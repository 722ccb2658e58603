// bind_leased(): a name on a lease that was taken for it alone.
// Threads: any; calls.
#pragma once

#include <string>

#include "CorelaneNamingC.h"
#include "orb/os/log.h"

namespace corelane::naming {

// Binds the name with the fresh lease. Where that raises, whatever it is, the lease is ended before, so that neither it
// nor a name that was bound and not answered for is left over; a nameserver that answers nothing keeps both until the
// lease's own end.
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
