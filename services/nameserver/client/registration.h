// Registration binds a name to an object for as long as this process runs and the Registration exists. A server uses it
// so that clients find the server, and so that the name is removed however the process ends.
//
//   const corelane::naming::Registration name(orb, "plant/controller", servant->_this());
//
// At a Corelane nameserver of this host, the name is removed when the process ends. If the nameserver is on another
// host or in another process namespace, it removes the name soon after the last renewal.
//
// A thread renews the lease. It binds the name again if the name is free, because the nameserver forgot it, or because
// another client replaced and then removed it. If two servers use the name, both log it. Any other server of CosNaming
// keeps the name until the Registration ends; if the process dies, the name stays.
//
// Threads: one thread constructs and destroys it. It has one thread of its own.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "orb/base/time.h"
#include "orb/corba/orb.h"

namespace corelane::naming {

struct RegistrationOptions {
  // Take over a name that is bound; if false, AlreadyBound. If the setting naming.replace is off, it counts as false.
  bool replace = true;
  bool make_contexts = true;  // make the missing contexts on the way to the name; they stay
  // How often to renew; without renewal, a lease ends after three times as long.
  Duration renewal = std::chrono::seconds{10};
};

class Registration {
 public:
  // `name` has the form that resolve_str() takes, relative to NameService. Raises what resolve_initial_references(),
  // bind() and the calls between raise; InvalidName if the text is not a name; NO_RESOURCES no_thread.
  //
  // After an exception the name is as it was. There is one exception to this: a bind() that raises a system exception
  // may have been done. Then the name is as it was or, with `replace`, unbound. If the nameserver still answers, no
  // lease and no name of this Registration is left. Otherwise both end with the process.
  Registration(CORBA::object_reference<CORBA::ORB> orb, const std::string& name,
               CORBA::object_reference<CORBA::Object> object, RegistrationOptions options = {});
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  // Removes the name, if the nameserver answers.
  ~Registration();

  // Returns whether the name is removed when this process dies.
  bool ephemeral() const noexcept;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace corelane::naming
