#include "services/nameserver/objects.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/core/settings.h"
#include "services/nameserver/clients.h"

namespace corelane::nameserver {
namespace {

constexpr const char* well_known_key = "NameService";

PortableServer::ObjectId id_of(ContextId context) {
  if (context == root_context) return {};
  const std::string text = "/" + std::to_string(context);
  return {text.begin(), text.end()};
}

std::optional<ContextId> context_with(const PortableServer::ObjectId& id) {
  if (id.empty()) return root_context;
  const std::string text(id.begin(), id.end());
  ContextId context = 0;
  const auto [end, fault] = std::from_chars(text.data() + 1, text.data() + text.size(), context);
  if (text[0] != '/' || fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return context;
}

CORBA::object_reference<PortableServer::POA> root_of(const CORBA::object_reference<CORBA::ORB>& orb) {
  return IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
}

std::string not_owner_text(const NameFault& fault, const Name& name) {
  const std::string what = name.empty() ? "a name that leads to this context" : "'" + giop::to_string(name) + "'";
  const std::string whose = fault.owner.empty() ? "is another client's" : "belongs to " + text_of_client(fault.owner);
  return what + " " + whose + ": it can be changed by its owner, by root and by the user of corelane-nameserver";
}

CosNaming::NamingContext::NotFoundReason cos_reason_of(NotFoundReason why) {
  return static_cast<CosNaming::NamingContext::NotFoundReason>(why);
}

}  // namespace

CosNaming::Name rest_of(const Name& name, std::size_t at) {
  return cos_name_of({name.begin() + static_cast<std::ptrdiff_t>(std::min(at, name.size())), name.end()});
}

CosNaming::BindingType cos_type_of(BindingType type) {
  return type == BindingType::object ? CosNaming::BindingType::nobject : CosNaming::BindingType::ncontext;
}

Objects::Objects(CORBA::object_reference<CORBA::ORB> orb, const Limits& limits, MakeServant make_servant)
    : orb_(std::move(orb)),
      limits_(limits),
      make_servant_(std::move(make_servant)),
      contexts_(root_of(orb_)->create_well_known(well_known_key, nullptr)),
      helpers_(root_of(orb_)->create_POA("naming", contexts_->the_POAManager())),
      foreign_calls_(limits.foreign) {}

void Objects::open() { contexts_->the_POAManager()->activate(); }

void Objects::activate(ContextId context) {
  try {
    contexts_->activate_object_with_id(id_of(context), make_servant_(context));
  } catch (const PortableServer::POA::ObjectAlreadyActive&) {
    // another thread did it, or it was done before
  }
}

void Objects::deactivate(ContextId context) noexcept {
  try {
    contexts_->deactivate_object(id_of(context));
  } catch (const CORBA::Exception&) {
    // it was not active
  }
}

Objects::ContextReference Objects::reference_to(ContextId context) {
  while (true) {  // bound: once more for each thread that deactivates it between the two steps
    try {
      return core::make_stub<CosNaming::NamingContext>(contexts_->id_to_reference(id_of(context))->_reference());
    } catch (const PortableServer::POA::ObjectNotActive&) {
      activate(context);
    }
  }
}

Objects::ContextReference Objects::reference_to_gone(ContextId context) {
  auto reference = reference_to(context);
  deactivate(context);
  return reference;
}

std::optional<ContextId> Objects::context_of(const CORBA::object_reference<CORBA::Object>& object) const {
  if (!object || !object->_reference() || !object->_reference()->is_local()) return std::nullopt;
  try {
    return context_with(contexts_->reference_to_id(object));
  } catch (const PortableServer::POA::WrongAdapter&) {
    return std::nullopt;
  }
}

std::string Objects::text_of(const CORBA::object_reference<CORBA::Object>& object) const {
  std::string text = orb_->object_to_string(object);
  if (const auto fault = object ? giop::fault_of(object->_reference()->ior(), orb_->settings().giop) : std::nullopt)
    core::raise_as_servant(*fault, "no call through this reference could succeed, so it is not bound");
  if (text.size() <= limits_.reference_size) return text;
  core::raise_as_servant(Error{ErrorKind::imp_limit, Completion::no, 0},
                         "the reference has " + std::to_string(text.size()) +
                             " bytes as text, and naming.reference_size allows " +
                             std::to_string(limits_.reference_size));
}

Binding Objects::binding_to(const CORBA::object_reference<CORBA::Object>& object) const {
  return {.type = BindingType::object, .reference = text_of(object)};
}

Binding Objects::binding_to_context(const CORBA::object_reference<CORBA::Object>& context) const {
  if (!context) core::raise_as_servant(Error{ErrorKind::bad_param, Completion::no, minor::nil_reference});
  if (const auto own = context_of(context)) return {.type = BindingType::context, .context = *own};
  return {.type = BindingType::context, .reference = text_of(context)};
}

CORBA::object_reference<CORBA::Object> Objects::stored(const std::string& reference, const Name& name) try {
  return orb_->string_to_object(reference);
} catch (const CORBA::SystemException& why) {
  const std::string text = "the reference that is bound to '" + giop::to_string(name) + "' cannot be read (" +
                           why.what() + "): its bytes in the name store have changed; bind that name again";
  foreign_calls_.tell(text);
  core::raise_as_servant(Error{ErrorKind::inv_objref, Completion::no, 0}, text);
}

Objects::ContextReference Objects::foreign(const NameFault& fault, const Name& name) {
  const auto end = name.begin() + static_cast<std::ptrdiff_t>(std::min(fault.at, name.size()));
  const auto object = stored(fault.reference, {name.begin(), end});
  return object ? core::make_stub<CosNaming::NamingContext>(object->_reference()) : nullptr;
}

Objects::ContextReference Objects::over_network(const ContextReference& context) {
  if (!context) return nullptr;
  const auto& given = context->_reference();
  auto reference = std::make_shared<core::Reference>(given->orb(), given->ior(), core::Reach::network());
  return reference->address() == nullptr ? nullptr : core::make_stub<CosNaming::NamingContext>(std::move(reference));
}

// Does not log that the other server lets no client over TCP change its names. The client itself may be allowed to.
void Objects::tell_failed(const ContextReference& context, const CORBA::SystemException& why) {
  if (why.error().kind == ErrorKind::no_permission) return;
  foreign_calls_.tell("a context of another server, at " +
                      transport::to_string(context->_reference()->address()->endpoints) +
                      ", cannot be called, and clients have to continue there themselves: " + why.what());
}

void Objects::raise(const NameFault& fault, const Name& name) {
  using Context = CosNaming::NamingContext;
  switch (fault.kind) {
    case NameFaultKind::invalid_name:
      throw Context::InvalidName();
    case NameFaultKind::not_found:
      throw Context::NotFound(cos_reason_of(fault.why), rest_of(name, fault.at));
    case NameFaultKind::already_bound:
      throw Context::AlreadyBound();
    case NameFaultKind::not_empty:
      throw Context::NotEmpty();
    case NameFaultKind::elsewhere:
      throw Context::CannotProceed(foreign(fault, name), rest_of(name, fault.at));
    case NameFaultKind::dead_end:
      throw Context::CannotProceed(reference_to_gone(fault.context), rest_of(name, fault.at));
    case NameFaultKind::gone:
      core::raise_as_servant(Error{ErrorKind::object_not_exist, Completion::no, minor::no_such_object});
    case NameFaultKind::no_target:
      core::raise_as_servant(Error{ErrorKind::bad_param, Completion::no, 0},
                             "the context to be bound does not exist any more: a client destroyed it, or it was one of "
                             "the oldest of many without a name; make a new one, best with bind_new_context()");
    case NameFaultKind::not_owner:
      core::raise_as_servant(Error{ErrorKind::no_permission, Completion::no, 0}, not_owner_text(fault, name));
    case NameFaultKind::client_full:
      core::raise_as_servant(
          Error{ErrorKind::imp_limit, Completion::no, 0},
          "this client (" + calling_client().name +
              ") has as many names as naming.client_names, a setting of corelane-nameserver, allows; unbind "
              "some");
    case NameFaultKind::full:
      core::raise_as_servant(Error{ErrorKind::imp_limit, Completion::no, minor::names_full});
    case NameFaultKind::no_space:
      core::raise_as_servant(
          Error{ErrorKind::imp_limit, Completion::no, 0},
          "the nameserver has no room to write: its disk, or the quota of etcd, is full; its log says what to do");
    case NameFaultKind::unavailable:
      break;
  }
  core::raise_as_servant(Error{ErrorKind::transient, Completion::no, minor::names_unavailable});
}

}  // namespace corelane::nameserver
