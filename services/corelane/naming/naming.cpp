#include "services/corelane/naming/naming.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "orb/core/client/reference.h"
#include "orb/giop/ior.h"
#include "orb/os/machine/host.h"
#include "services/corelane/naming/naming_session.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"
#include "services/corelane/references/ior.h"
#include "services/nameserver/client/bind_leased.h"
#include "services/nameserver/client/cos_name.h"
#include "services/nameserver/client/follow_contexts.h"

namespace corelane::tool {
namespace {

constexpr std::uint32_t at_once = 500;  // bindings in one reply
constexpr int deepest = 1000;           // a server may invent contexts without end

constexpr std::size_t most_listed = 1'000'000;

struct Listed {
  giop::Name name;  // relative to the listed context
  bool context = false;
  // Only if they were requested.
  bool ephemeral = false;
  std::string owner{};  // of an ephemeral name
  std::string fault{};  // why a context was not listed; "": it was, or was not to be
};

std::string line_of(const Listed& entry, bool details) {
  const std::string name = plain(giop::to_string(entry.name)) + (entry.context ? "/" : "");
  if (!details) return name;
  if (!entry.ephemeral) return name + "  stays until it is unbound";
  return name + "  goes with " + (entry.owner.empty() ? "its owner" : plain(entry.owner));
}

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

// Lists the names in a context and, level by level, in the contexts below it. Contexts may form a ring: each is listed
// once.
class Lister {
 public:
  explicit Lister(const NamingOptions& options) : options_(options) {}

  std::vector<Listed> list(const NamingContextRef& context) {
    is_new(context);
    collect(context, {}, options_.recursive ? deepest : 0);
    return std::move(found_);
  }

 private:
  void collect(const NamingContextRef& context, const giop::Name& prefix, int levels) {
    const DirectoryRef directory = options_.details ? directory_of(context) : DirectoryRef{};
    if (options_.details && !directory)
      throw NamingFault("how long names live only Corelane's nameserver tells, and this is another; leave --long out");
    for (const CosNaming::Binding& binding : bindings_of(context)) {
      if (found_.size() == most_listed)
        throw NamingFault("there are more than " + std::to_string(most_listed) + " names; list a context of them");
      found_.push_back(listed(binding, prefix, directory));
      if (!found_.back().context || !options_.recursive) continue;
      if (levels > 0)
        collect_below(context, binding, found_.size() - 1, levels - 1);
      else
        found_.back().fault = "its names are " + std::to_string(deepest) + " levels down; list it by its own name";
    }
  }

  // A context that cannot be entered does not hide other names.
  void collect_below(const NamingContextRef& context, const CosNaming::Binding& binding, std::size_t index,
                     int levels) try {
    const auto below = IDL::traits<CosNaming::NamingContext>::narrow(context->resolve(binding.binding_name()));
    if (below && is_new(below)) collect(below, giop::Name(found_[index].name), levels);
  } catch (const CORBA::SystemException& fault) {
    found_[index].fault = fault.what();
  } catch (const CORBA::UserException& fault) {
    found_[index].fault = fault_of_naming(fault, found_[index].name);
  }

  static Listed listed(const CosNaming::Binding& binding, const giop::Name& prefix, const DirectoryRef& directory) {
    Listed entry{prefix, binding.binding_type() == CosNaming::BindingType::ncontext};
    for (const giop::NameComponent& component : naming::name_of(binding.binding_name()))
      entry.name.push_back(component);
    if (!directory) return entry;
    try {
      const auto details = directory->describe(binding.binding_name());
      entry.ephemeral = details.lives() == Corelane::Naming::Lifetime::ephemeral;
      entry.owner = details.owner();
    } catch (const CosNaming::NamingContext::NotFound&) {
      // it was removed since it was listed
    }
    return entry;
  }

  bool is_new(const NamingContextRef& context) {
    return seen_.insert(giop::to_string(context->_reference()->ior())).second;
  }

  const NamingOptions& options_;
  std::vector<Listed> found_{};
  std::set<std::string> seen_{};  // contexts, by their references
};

nlohmann::ordered_json json_of(const Listed& entry, bool details) {
  nlohmann::ordered_json json{{"name", giop::to_string(entry.name)}, {"type", entry.context ? "context" : "object"}};
  if (details) json["lives"] = entry.ephemeral ? "ephemeral" : "persistent";
  if (details) json["owner"] = entry.owner;
  if (!entry.fault.empty()) json["fault"] = entry.fault;
  return json;
}

// Makes a call with the name of the session, from its root on.
template <typename Call>
auto follow_contexts(const NamingSession& session, Call call) {
  return naming::follow_contexts(session.root, naming::cos_name_of(session.name), call);
}

// Makes the missing contexts above the name.
void make_parents(const NamingSession& session) {
  for (std::size_t length = 1; length < session.name.size(); ++length) {
    const auto part =
        naming::cos_name_of({session.name.begin(), session.name.begin() + static_cast<std::ptrdiff_t>(length)});
    try {
      naming::follow_contexts(session.root, part, [](const NamingContextRef& at, const CosNaming::Name& name) {
        at->bind_new_context(name);
      });
    } catch (const CosNaming::NamingContext::AlreadyBound&) {
      // it exists
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
  naming::bind_leased(directory, naming::cos_name_of(session.name), object, lease, options.replace);
}

// Decides by the type in the reference, without calling the object.
bool says_context(const CORBA::object_reference<CORBA::Object>& object) {
  const std::string type = object ? object->_reference()->ior().type_id : "";
  return type == Corelane::Naming::Directory::_id || type.find("/CosNaming/") != type.npos;
}

// Refuses to unbind a context: without its name, neither it nor its content may be found again.
void refuse_context(const NamingSession& session) {
  const auto object = follow_contexts(
      session, [](const NamingContextRef& at, const CosNaming::Name& name) { return at->resolve(name); });
  if (says_context(object))
    throw NamingFault("'" + giop::to_string(session.name) +
                      "' means a context, whose names may not be found without it: --destroy ends it where it is "
                      "empty, --name-only takes the name and leaves the context");
}

void bind_context(const NamingSession& session, const NamingOptions& options, const NamingContextRef& context) {
  follow_contexts(session, [&](const NamingContextRef& at, const CosNaming::Name& name) {
    if (options.replace)
      at->rebind_context(name, context);
    else
      at->bind_context(name, context);
  });
}

void bind_object(const NamingSession& session, const NamingOptions& options, const std::string& reference) {
  const auto object = session.orb.string_to_object(reference);
  if (options.process != 0) return bind_leased(session, options, object);
  if (says_context(object))
    if (const auto context = IDL::traits<CosNaming::NamingContext>::narrow(object))
      return bind_context(session, options, context);
  follow_contexts(session, [&](const NamingContextRef& at, const CosNaming::Name& name) {
    if (options.replace)
      at->rebind(name, object);
    else
      at->bind(name, object);
  });
}

int done(const NamingOptions& options, const char* what, std::ostream& out) {
  if (options.format == Format::json) out << json_lines({{"name", options.name}, {"done", what}});
  return 0;
}

}  // namespace

int list_names(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  return with_naming("corelane ns list", options, NameUse::any, err, [&](NamingSession& session) {
    const auto found = Lister(options).list(context_of(session, session.name));
    auto json = nlohmann::ordered_json::array();
    for (const Listed& entry : found)
      if (options.format == Format::json)
        json.push_back(json_of(entry, options.details));
      else
        out << line_of(entry, options.details) << "\n";
    if (options.format == Format::json) out << json_lines(json);
    warn_if_stale("corelane ns list", session, err);
    for (const Listed& entry : found)
      if (!entry.fault.empty())
        err << "corelane ns list: '" << plain(giop::to_string(entry.name))
            << "' was not looked into: " << plain(entry.fault) << "\n";
    return std::ranges::all_of(found, &std::string::empty, &Listed::fault) ? 0 : 1;
  });
}

int resolve_name(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  return with_naming("corelane ns resolve", options, NameUse::given, err, [&](NamingSession& session) {
    const auto object = follow_contexts(
        session, [](const NamingContextRef& at, const CosNaming::Name& name) { return at->resolve(name); });
    const std::string text = session.orb.object_to_string(object);
    if (options.format == Format::json)
      out << json_lines({{"name", giop::to_string(session.name)},
                         {"type_id", object ? object->_reference()->ior().type_id : ""},
                         {"reference", text}});
    else
      out << text << "\n";
    warn_if_stale("corelane ns resolve", session, err);
    return 0;
  });
}

int bind_name(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  if (options.reference.has_value() == options.context) {
    err << "corelane ns bind: "
        << (options.context ? "a new context (--context) has no REFERENCE: leave one of them out"
                            : "what is '" + plain(options.name) +
                                  "' to mean? Give a REFERENCE, a file that holds one, or --context for a new context")
        << "; see corelane ns bind --help\n";
    return 2;
  }
  std::optional<std::string> reference;
  if (options.reference) {
    reference = read_reference("ns bind", *options.reference, std::cin, err);
    if (!reference) return 1;
  }
  return with_naming("corelane ns bind", options, NameUse::to_bind, err, [&](NamingSession& session) {
    if (!reference && options.process != 0)
      throw NamingFault("a context does not go with a process; give a REFERENCE, or leave --process out");
    if (options.parents) make_parents(session);
    if (reference)
      bind_object(session, options, *reference);
    else
      follow_contexts(session,
                      [](const NamingContextRef& at, const CosNaming::Name& name) { at->bind_new_context(name); });
    return done(options, "bound", out);
  });
}

int unbind_name(const NamingOptions& options, std::ostream& out, std::ostream& err) {
  return with_naming("corelane ns unbind", options, NameUse::given, err, [&](NamingSession& session) {
    if (options.destroy)
      context_of(session, session.name)->destroy();
    else if (!options.name_only)
      refuse_context(session);
    follow_contexts(session, [](const NamingContextRef& at, const CosNaming::Name& name) { at->unbind(name); });
    return done(options, "unbound", out);
  });
}

}  // namespace corelane::tool
