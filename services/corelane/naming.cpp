#include "services/corelane/naming.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orb/giop/ior.h"
#include "orb/os/host.h"
#include "services/corelane/ior.h"
#include "services/corelane/naming_session.h"
#include "services/corelane/text.h"
#include "services/nameserver/client/cos_name.h"
#include "services/nameserver/client/go_on.h"

namespace corelane::tool {
namespace {

constexpr std::uint32_t at_once = 500;  // bindings of one reply
constexpr int deepest = 32;             // contexts may hold each other in a ring

struct Listed {
  giop::Name name;  // from the context that was asked for
  bool context = false;
};

std::string shown_name(const Listed& entry) { return giop::to_string(entry.name) + (entry.context ? "/" : ""); }

std::vector<CosNaming::Binding> bindings_of(const NamingContextRef& context) {
  CosNaming::BindingList bindings;
  IDL::traits<CosNaming::BindingIterator>::ref_type rest;
  context->list(at_once, bindings, rest);
  while (rest) {  // bound: the context's names
    CosNaming::BindingList more;
    if (!rest->next_n(at_once, more) && more.empty()) break;
    bindings.insert(bindings.end(), more.begin(), more.end());
  }
  if (rest) rest->destroy();
  return bindings;
}

void collect(const NamingContextRef& context, const giop::Name& prefix, int levels, std::vector<Listed>& found) {
  for (const CosNaming::Binding& binding : bindings_of(context)) {
    Listed entry{prefix, binding.binding_type() == CosNaming::BindingType::ncontext};
    for (const giop::NameComponent& component : naming::name_of(binding.binding_name()))
      entry.name.push_back(component);
    found.push_back(entry);
    if (!entry.context || levels == 0) continue;
    const auto below = IDL::traits<CosNaming::NamingContext>::narrow(context->resolve(binding.binding_name()));
    if (below) collect(below, entry.name, levels - 1, found);
  }
}

nlohmann::ordered_json json_of(const Listed& entry) {
  return {{"name", giop::to_string(entry.name)}, {"type", entry.context ? "context" : "object"}};
}

// With the name of the session, from its root on.
template <typename Call>
auto going_on(const NamingSession& session, Call call) {
  return naming::going_on(session.root, naming::cos_name_of(session.name), call);
}

void show_json(const nlohmann::ordered_json& json, std::ostream& out) {
  out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

// The contexts above the name, those that are missing made.
void make_parents(const NamingSession& session) {
  for (std::size_t length = 1; length < session.name.size(); ++length) {
    const auto part =
        naming::cos_name_of({session.name.begin(), session.name.begin() + static_cast<std::ptrdiff_t>(length)});
    try {
      naming::going_on(session.root, part,
                       [](const NamingContextRef& at, const CosNaming::Name& name) { at->bind_new_context(name); });
    } catch (const CosNaming::NamingContext::AlreadyBound&) {
      // it is there
    }
  }
}

void bind_leased(const NamingSession& session, const NamingOptions& options,
                 const CORBA::object_reference<CORBA::Object>& object) {
  const auto directory = directory_of(session.root);
  if (!directory) throw NamingFault("this naming service is not Corelane's: its names stay; leave --process out");
  const auto owner = os::identity_of(options.process);
  if (!owner) throw NamingFault("there is no process " + std::to_string(options.process) + " that this user sees");
  const os::HostIdentity& host = os::this_host();
  const auto lease = directory->nameserver()->lease_of(
      Corelane::Naming::Process(host.boot_id, host.pid_namespace, owner->pid, owner->start_ticks));
  directory->bind_leased(naming::cos_name_of(session.name), object, lease, options.replace);
}

void bind_context(const NamingSession& session, const NamingOptions& options, const NamingContextRef& context) {
  going_on(session, [&](const NamingContextRef& at, const CosNaming::Name& name) {
    if (options.replace)
      at->rebind_context(name, context);
    else
      at->bind_context(name, context);
  });
}

void bind_object(const NamingSession& session, const NamingOptions& options, const std::string& reference) {
  const auto object = session.orb.string_to_object(reference);
  const std::string type = object ? object->_reference()->ior().type_id : "";
  const bool is_context = type == Corelane::Naming::Directory::_id || type.find("/CosNaming/") != type.npos;
  if (options.process != 0) return bind_leased(session, options, object);
  if (is_context)
    if (const auto context = IDL::traits<CosNaming::NamingContext>::narrow(object))
      return bind_context(session, options, context);
  going_on(session, [&](const NamingContextRef& at, const CosNaming::Name& name) {
    if (options.replace)
      at->rebind(name, object);
    else
      at->bind(name, object);
  });
}

int done(const NamingOptions& options, const char* what, std::ostream& out) {
  if (options.format == Format::json) show_json({{"name", options.name}, {"done", what}}, out);
  return 0;
}

}  // namespace

int list_names(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  return with_naming("corelane ns list", options, false, err, [&](NamingSession& session) {
    std::vector<Listed> found;
    collect(context_of(session, session.name), {}, options.recursive ? deepest : 0, found);
    auto json = nlohmann::ordered_json::array();
    for (const Listed& entry : found)
      if (options.format == Format::json)
        json.push_back(json_of(entry));
      else
        out << plain(shown_name(entry)) << "\n";
    if (options.format == Format::json) show_json(json, out);
    return 0;
  });
}

int resolve_name(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  return with_naming("corelane ns resolve", options, true, err, [&](NamingSession& session) {
    const auto object =
        going_on(session, [](const NamingContextRef& at, const CosNaming::Name& name) { return at->resolve(name); });
    const std::string text = session.orb.object_to_string(object);
    if (options.format == Format::json)
      show_json({{"name", giop::to_string(session.name)},
                 {"type_id", object ? object->_reference()->ior().type_id : ""},
                 {"reference", text}},
                out);
    else
      out << text << "\n";
    return 0;
  });
}

int bind_name(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  const auto reference =
      options.reference.empty() ? std::string() : read_reference("ns bind", options.reference, std::cin, err);
  if (!reference) return 1;
  return with_naming("corelane ns bind", options, true, err, [&](NamingSession& session) {
    if (options.parents) make_parents(session);
    if (reference->empty())
      going_on(session, [](const NamingContextRef& at, const CosNaming::Name& name) { at->bind_new_context(name); });
    else
      bind_object(session, options, *reference);
    return done(options, "bound", out);
  });
}

int unbind_name(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  return with_naming("corelane ns unbind", options, true, err, [&](NamingSession& session) {
    if (options.destroy) context_of(session, session.name)->destroy();
    going_on(session, [](const NamingContextRef& at, const CosNaming::Name& name) { at->unbind(name); });
    return done(options, "unbound", out);
  });
}

}  // namespace corelane::tool
