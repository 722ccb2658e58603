// Objects makes contexts available as CORBA objects. The root has the key NameService, the others NameService/<number>.
// So references to them stay valid when the nameserver starts again at the same endpoints.
//
// It also translates for servants: names and faults to those of CosNaming, and references to bindings.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "CosNamingC.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "services/nameserver/client/cos_name.h"
#include "services/nameserver/foreign_calls.h"
#include "services/nameserver/name_tree.h"

namespace corelane::nameserver {

using naming::cos_name_of;
using naming::name_of;
// Returns the components from `at` on.
CosNaming::Name rest_of(const Name& name, std::size_t at);
CosNaming::BindingType cos_type_of(BindingType type);

class Objects {
 public:
  using ContextReference = CORBA::object_reference<CosNaming::NamingContext>;
  using MakeServant = std::function<CORBA::servant_reference<PortableServer::ServantBase>(ContextId)>;

  struct Limits {
    std::size_t reference_size = 16'384;  // bytes of a reference as text
    ForeignLimits foreign{};
  };
  // Makes its POAs below the RootPOA. Requests wait until open().
  Objects(CORBA::object_reference<CORBA::ORB> orb, const Limits& limits, MakeServant make_servant);

  void open();
  // Makes the context an object, if it is not one yet.
  void activate(ContextId context);
  void deactivate(ContextId context) noexcept;
  ContextReference reference_to(ContextId context);
  // Returns a reference to a context that was destroyed. A call to it gets OBJECT_NOT_EXIST.
  ContextReference reference_to_gone(ContextId context);
  // Returns the context of a reference to one of these objects, or nothing for any other reference.
  std::optional<ContextId> context_of(const CORBA::object_reference<CORBA::Object>& object) const;

  // Returns what to store for an object, or for a context of this or another server. Raises BAD_PARAM for a nil context
  // and IMP_LIMIT for a reference that is too long.
  Binding binding_to(const CORBA::object_reference<CORBA::Object>& object) const;
  Binding binding_to_context(const CORBA::object_reference<CORBA::Object>& context) const;
  // Returns the object of a stored reference. If the reference cannot be read any more, raises INV_OBJREF and writes a
  // line to the log, both with the remedy. `name` is what it is bound to, for the text.
  CORBA::object_reference<CORBA::Object> stored(const std::string& reference, const Name& name);

  // Raises the standard's exception for a fault in `name`; for `elsewhere`, CannotProceed. Raises IMP_LIMIT, TRANSIENT,
  // OBJECT_NOT_EXIST, BAD_PARAM or NO_PERMISSION where the standard has no exception of its own.
  [[noreturn]] void raise(const NameFault& fault, const Name& name);
  // Does the same, but for `elsewhere` calls call(context, rest of the name), for at most naming.foreign_time. Raises
  // CannotProceed if that server does not answer, or if naming.foreign_calls calls are already under way. The client
  // then continues there itself. No lock is held.
  template <typename Call>
  auto go_on(const NameFault& fault, const Name& name, Call call) {
    if (fault.kind != NameFaultKind::elsewhere) raise(fault, name);
    const ContextReference there = foreign(fault, name);
    const CosNaming::Name rest = rest_of(name, fault.at);
    if (const auto way = over_network(there)) {
      const ForeignCalls::Turn turn(foreign_calls_);
      try {
        if (turn) return call(way, rest);
      } catch (const CORBA::SystemException& why) {
        tell_failed(way, why);
      }
    }
    throw CosNaming::NamingContext::CannotProceed(there, rest);
  }

  const CORBA::object_reference<CORBA::ORB>& orb() const noexcept { return orb_; }
  // Returns the POA for objects of this server that are not contexts. Its object keys are transient.
  const CORBA::object_reference<PortableServer::POA>& helpers() const noexcept { return helpers_; }

 private:
  // Returns the context of another server that `elsewhere` leads to.
  ContextReference foreign(const NameFault& fault, const Name& name);
  // Returns the same context for calls that stay on the network, also if its server forwards them. Over a Unix socket
  // or a channel, the call would have the rights of this process's user, not of the client. Returns nil if the
  // reference names no such way.
  static ContextReference over_network(const ContextReference& context);
  void tell_failed(const ContextReference& context, const CORBA::SystemException& why);
  std::string text_of(const CORBA::object_reference<CORBA::Object>& object) const;

  const CORBA::object_reference<CORBA::ORB> orb_;
  const Limits limits_;
  const MakeServant make_servant_;
  const CORBA::object_reference<PortableServer::POA> contexts_;
  const CORBA::object_reference<PortableServer::POA> helpers_;
  ForeignCalls foreign_calls_;
};

}  // namespace corelane::nameserver
