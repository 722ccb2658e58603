// Registration: a name for an object, for as long as this process runs and the registration lives: what a server says
// to be found, and what goes with it however it ends.
//
//   const corelane::naming::Registration name(orb, "plant/controller", servant->_this());
//
// At a Corelane nameserver of this host the name goes with the process; at one elsewhere, or in another process
// namespace, soon after its last renewal. A thread renews, and binds the name again where it is free: the nameserver
// has forgotten it, or another had replaced it and has let it go. The log of either end says that there are two. Any
// other server of CosNaming keeps the name until the registration's end, and beyond it when the process dies.
//
// Threads: made and ended by one; one of its own.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "orb/base/time.h"
#include "orb/corba/orb.h"

namespace corelane::naming {

struct RegistrationOptions {
  bool replace = true;                          // take over a name that is bound; else AlreadyBound. The setting
                                                // naming.replace, off, has the same effect as false
  bool make_contexts = true;                    // those on the way to the name that are not there; they stay
  Duration renewal = std::chrono::seconds{10};  // how often; a lease that is not renewed lasts three times as long
};

class Registration {
 public:
  // `name` as resolve_str() takes it, from NameService on. Raises what resolve_initial_references(), bind() and the
  // calls between raise; InvalidName for text that is no name; NO_RESOURCES no_thread. The name is then as it was;
  // after a system exception of bind() that may have been done it is as it was or, with `replace`, bound to nothing: no
  // lease and no name of this registration is left where the nameserver still answers, and elsewhere both go with the
  // process.
  Registration(CORBA::object_reference<CORBA::ORB> orb, const std::string& name,
               CORBA::object_reference<CORBA::Object> object, RegistrationOptions options = {});
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  // Takes the name away, where the nameserver answers.
  ~Registration();

  // Whether the name goes when this process dies.
  bool ephemeral() const noexcept;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace corelane::naming
