#include "services/nameserver/directory.h"

#include <utility>

#include "orb/base/minor.h"
#include "orb/giop/corbaname.h"
#include "orb/giop/name_text.h"
#include "orb/os/clock.h"

namespace corelane::nameserver {

namespace naming = Corelane::Naming;

namespace {

// Records that the name belongs to the client that binds it.
Binding owned(Binding binding) {
  binding.bound_by = calling_client().name;
  return binding;
}

}  // namespace

void Directory::bind(const CosNaming::Name& n, ObjectRef object) {
  parts_.writers.require();
  const Name name = name_of(n);
  const auto done = parts_.tree.bind(context_, name, owned(parts_.objects.binding_to(object)), IfBound::refuse);
  if (!done)
    parts_.objects.go_on(done.error(), name, [&](const auto& there, const auto& rest) { there->bind(rest, object); });
}

void Directory::rebind(const CosNaming::Name& n, ObjectRef object) {
  parts_.writers.require();
  const Name name = name_of(n);
  const auto done = parts_.tree.bind(context_, name, owned(parts_.objects.binding_to(object)), IfBound::replace);
  if (!done)
    parts_.objects.go_on(done.error(), name, [&](const auto& there, const auto& rest) { there->rebind(rest, object); });
}

void Directory::bind_context(const CosNaming::Name& n, ContextRef context) {
  parts_.writers.require();
  const Name name = name_of(n);
  const auto done =
      parts_.tree.bind(context_, name, owned(parts_.objects.binding_to_context(context)), IfBound::refuse);
  if (!done)
    parts_.objects.go_on(done.error(), name,
                         [&](const auto& there, const auto& rest) { there->bind_context(rest, context); });
}

void Directory::rebind_context(const CosNaming::Name& n, ContextRef context) {
  parts_.writers.require();
  const Name name = name_of(n);
  const auto done =
      parts_.tree.bind(context_, name, owned(parts_.objects.binding_to_context(context)), IfBound::replace);
  if (!done)
    parts_.objects.go_on(done.error(), name,
                         [&](const auto& there, const auto& rest) { there->rebind_context(rest, context); });
}

Directory::ObjectRef Directory::object_of(const Binding& binding, const Name& name) {
  if (!binding.reference.empty()) return parts_.objects.stored(binding.reference, name);
  if (parts_.tree.require(binding.context)) return parts_.objects.reference_to(binding.context);
  return parts_.objects.reference_to_gone(binding.context);
}

Directory::ObjectRef Directory::resolve(const Name& name) {
  const auto found = parts_.tree.resolve(context_, name);
  if (found) return object_of(*found, name);
  return parts_.objects.go_on(found.error(), name,
                              [](const auto& there, const auto& rest) { return there->resolve(rest); });
}

Directory::ObjectRef Directory::resolve(const CosNaming::Name& n) { return resolve(name_of(n)); }

void Directory::unbind(const CosNaming::Name& n) {
  parts_.writers.require();
  const Name name = name_of(n);
  const auto done = parts_.tree.unbind(context_, name, calling_client().name);
  if (!done) parts_.objects.go_on(done.error(), name, [](const auto& there, const auto& rest) { there->unbind(rest); });
}

Directory::ContextRef Directory::new_context() {
  parts_.writers.require();
  const auto made = parts_.tree.make_context();
  if (!made) parts_.objects.raise(made.error(), {});
  return parts_.objects.reference_to(*made);
}

Directory::ContextRef Directory::bind_new_context(const CosNaming::Name& n) {
  parts_.writers.require();
  const Name name = name_of(n);
  const auto made = parts_.tree.bind_new_context(context_, name, calling_client().name);
  if (made) return parts_.objects.reference_to(*made);
  return parts_.objects.go_on(made.error(), name,
                              [](const auto& there, const auto& rest) { return there->bind_new_context(rest); });
}

// Refuses to destroy the root, which all clients need. The standard has no user exception for this in destroy() (CORBA
// 3.3).
void Directory::destroy() {
  parts_.writers.require();
  if (context_ == root_context) core::raise_as_servant(Error{ErrorKind::no_permission, Completion::no, 0});
  if (const auto done = parts_.tree.destroy(context_, calling_client().name); !done)
    parts_.objects.raise(done.error(), {});
  parts_.objects.deactivate(context_);
}

void Directory::list(std::uint32_t how_many, CosNaming::BindingList& bindings,
                     CORBA::object_reference<CosNaming::BindingIterator>& iterator) {
  auto page = next_page(parts_.tree, context_, nullptr, how_many);
  if (!page) parts_.objects.raise(page.error(), {});
  const NameComponent* const last = page->bindings.empty() ? nullptr : &page->last;
  iterator = page->more ? parts_.iterators.open(context_, last, os::now()) : nullptr;
  bindings = std::move(page->bindings);
}

std::string Directory::to_string(const CosNaming::Name& n) {
  if (n.empty()) throw CosNaming::NamingContext::InvalidName();
  return giop::to_string(name_of(n));
}

CosNaming::Name Directory::to_name(const std::string& text) {
  const auto name = giop::parse_name(text);
  if (!name) throw CosNaming::NamingContext::InvalidName();
  return cos_name_of(*name);
}

std::string Directory::to_url(const std::string& address, const std::string& text) {
  auto url = giop::corbaname_of(address, text);
  if (url) return std::move(*url);
  if (url.error().text.empty()) throw CosNaming::NamingContextExt::InvalidAddress();
  throw CosNaming::NamingContext::InvalidName();
}

Directory::ObjectRef Directory::resolve_str(const std::string& text) {
  const auto name = giop::parse_name(text);
  if (!name) throw CosNaming::NamingContext::InvalidName();
  return resolve(*name);
}

// A lease belongs to this server, so the call does not continue at another server.
void Directory::bind_leased(const CosNaming::Name& n, ObjectRef object, naming::LeaseId lease, bool replace) {
  parts_.writers.require();
  const Name name = name_of(n);
  const Client client = calling_client();
  const auto owner = parts_.leases.owner_of(lease, client, os::now());
  if (!owner) throw naming::UnknownLease();
  Binding binding = parts_.objects.binding_to(object);
  binding.owner = *owner;
  binding.bound_by = client.name;
  const auto done = parts_.tree.bind(context_, name, binding, replace ? IfBound::replace : IfBound::refuse);
  // Checks the lease also if the bind failed: it may have been done without an answer. If the lease ended before the
  // store was called, its end did not remove this name.
  const bool is_over = !parts_.leases.owner_of(lease, client, os::now());
  if (is_over && !parts_.tree.remove_owned(*owner)) {
    parts_.leases.leave(*owner);
    parts_.processes.wake();
  }
  if (!done) parts_.objects.raise(done.error(), name);
  if (is_over) throw naming::UnknownLease();
}

naming::Details Directory::describe(const CosNaming::Name& n) {
  const Name name = name_of(n);
  const auto found = parts_.tree.resolve(context_, name);
  if (!found) parts_.objects.raise(found.error(), name);
  return naming::Details(cos_type_of(found->type),
                         found->owner.empty() ? naming::Lifetime::persistent : naming::Lifetime::ephemeral,
                         text_of_owner(found->owner), parts_.objects.orb()->object_to_string(object_of(*found, name)));
}

}  // namespace corelane::nameserver
