// follow_contexts() makes a call with a name that leads through contexts of several servers. A server that cannot
// proceed names the next context, and the client continues there itself. CosNaming 1.3, 2.2.
//
// Threads: any; makes calls.
#pragma once

#include <utility>

#include "CosNamingC.h"

namespace corelane::naming {

inline constexpr int most_servers = 8;

// Makes call(context, name), first with these arguments, then with the context and the rest of the name of each
// CannotProceed. Raises what the last call raises. Raises CannotProceed if that context does not answer the client
// either.
template <typename Call>
auto follow_contexts(CORBA::object_reference<CosNaming::NamingContext> context, CosNaming::Name name, Call call) {
  using CannotProceed = CosNaming::NamingContext::CannotProceed;
  for (int servers = 1;; ++servers) {  // bound: most_servers
    try {
      return call(context, name);
    } catch (const CannotProceed& stuck) {
      if (!stuck.cxt() || servers == most_servers) throw;
      context = stuck.cxt();
      name = stuck.rest_of_name();
    } catch (const CORBA::SystemException& fault) {
      if (servers == 1 || fault.error().kind == ErrorKind::no_permission) throw;
      throw CannotProceed(context, name);
    }
  }
}

}  // namespace corelane::naming
