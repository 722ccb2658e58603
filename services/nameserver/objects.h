// Objects: contexts as CORBA objects. The root has the key NameService, the others NameService/<number>, so references
// to them stay good when the nameserver runs again at the same endpoints.
//
// Also what servants translate: names and faults to those of CosNaming, references to bindings.
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
// From component `at` on.
CosNaming::Name rest_of(const Name& name, std::size_t at);
CosNaming::BindingType cos_type_of(BindingType type);

class Objects {
 public:
  using ContextReference = CORBA::object_reference<CosNaming::NamingContext>;
  using MakeServant = std::function<CORBA::servant_reference<PortableServer::ServantBase>(ContextId)>;

  struct Limits {
    std::size_t reference_size = 16'384;  // bytes of one as text
    ForeignLimits foreign{};
  };
  // Below the RootPOA; holds requests until open().
  Objects(CORBA::object_reference<CORBA::ORB> orb, const Limits& limits, MakeServant make_servant);

  void open();
  // Makes the context an object, when it is none yet.
  void activate(ContextId context);
  void deactivate(ContextId context) noexcept;
  ContextReference reference_to(ContextId context);
  // The same for one that was destroyed: whoever calls it gets OBJECT_NOT_EXIST.
  ContextReference reference_to_gone(ContextId context);
  // Of a reference to one of these objects; nothing for any other.
  std::optional<ContextId> context_of(const CORBA::object_reference<CORBA::Object>& object) const;

  // What to store for an object, or for a context, of this server or another; BAD_PARAM for a nil context, IMP_LIMIT
  // for a reference that is too long.
  Binding binding_to(const CORBA::object_reference<CORBA::Object>& object) const;
  Binding binding_to_context(const CORBA::object_reference<CORBA::Object>& context) const;
  // What a stored reference stands for. INV_OBJREF, and a line in the log, with what to do where it cannot be read any
  // more. `name`: what it is bound to, for the text.
  CORBA::object_reference<CORBA::Object> stored(const std::string& reference, const Name& name);

  // The standard's exception for a fault in `name`, but for `elsewhere`. IMP_LIMIT, TRANSIENT and OBJECT_NOT_EXIST for
  // what the standard has none for.
  [[noreturn]] void raise(const NameFault& fault, const Name& name);
  // The same, but `elsewhere` goes on there, no longer than naming.foreign_time: call(context, rest of the name).
  // CannotProceed where that does not answer, or where as many calls are under way as naming.foreign_calls allows: the
  // client goes on there himself. No lock is held.
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
  // For objects of this server that are no contexts; has transient keys.
  const CORBA::object_reference<PortableServer::POA>& helpers() const noexcept { return helpers_; }

 private:
  // The context of another server that `elsewhere` leads to.
  ContextReference foreign(const NameFault& fault, const Name& name);
  // The same context by TCP alone: by a Unix socket or a channel this process's user would act there, and not the
  // client. Nil: there is no other way.
  ContextReference over_network(const ContextReference& context) const;
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
