#include "idl/cxx/calls/calls.h"

#include <algorithm>

#include "idl/cxx/spelling/deprecated.h"
#include "idl/cxx/spelling/names.h"

namespace corelane::idl::cxx {
namespace {

Call call_of(const Spelling& spelling, const Operation& operation) {
  Call call{.wire_name = operation.name,
            .name = escaped(operation.name, NameUse::function),
            .result = spelling.is_void(operation.result) ? TypeId::none : operation.result,
            .arguments = {},
            .oneway = operation.oneway,
            .has_context = !operation.contexts.empty(),
            .raises = operation.raises,
            .contract = operation.contract ? &*operation.contract : nullptr,
            .declared_in = DefId::none,
            .attribute = deprecated_attribute(operation.annotations)};
  for (const Parameter& p : operation.parameters)
    call.arguments.push_back({spelling.local(p.name), p.type, p.direction});
  return call;
}

void append_calls(const Attribute& attribute, std::vector<Call>& out) {
  Call get;
  get.wire_name = "_get_" + attribute.name;
  get.name = escaped(attribute.name, NameUse::function);
  get.result = attribute.type;
  get.raises = attribute.get_raises;
  get.attribute = deprecated_attribute(attribute.annotations);
  out.push_back(get);
  if (attribute.readonly) return;
  Call set;
  set.wire_name = "_set_" + attribute.name;
  set.name = get.name;
  set.arguments = {{"_value", attribute.type, Direction::in}};
  set.raises = attribute.set_raises;
  set.attribute = get.attribute;
  out.push_back(set);
}

std::vector<std::string> names_without(const Call& call, Direction excluded) {
  std::vector<std::string> names;
  for (const Argument& argument : call.arguments)
    if (argument.direction != excluded) names.push_back(argument.name);
  return names;
}

void append_ancestors(const Model& model, DefId id, std::vector<DefId>& out) {
  for (const DefId base : std::get<Interface>(model[id].body).bases) {
    if (std::ranges::find(out, base) != out.end()) continue;
    append_ancestors(model, base, out);
    out.push_back(base);
  }
}

bool is_abstract_interface(const Model& model, DefId id) {
  return std::get<Interface>(model[id].body).kind == InterfaceKind::abstract;
}

const std::vector<DefId>& ancestors_of(const Model& model, DefId id) {
  if (const auto* value = std::get_if<Valuetype>(&model[id].body)) return value->ancestors;
  return std::get<Interface>(model[id].body).ancestors;
}

bool contains(const std::vector<DefId>& ids, DefId id) { return std::ranges::find(ids, id) != ids.end(); }

bool derives(const Model& model, DefId id, DefId from) { return contains(ancestors_of(model, id), from); }

// Returns the classes that must declare a function; the others inherit it. `family` lists the classes that have the
// function, bases before derived classes. A class inherits the declaration if one of its bases hides all other
// declarations. Otherwise C++ would find no final overrider, and the name would be ambiguous.
std::vector<DefId> declarers(const Model& model, const std::vector<DefId>& family) {
  std::vector<DefId> found;
  for (const DefId id : family) {
    const auto hides_others = [&](DefId base) {
      return derives(model, id, base) && std::ranges::all_of(found, [&](DefId other) {
               return other == base || !derives(model, id, other) || derives(model, base, other);
             });
    };
    if (std::ranges::none_of(found, hides_others)) found.push_back(id);
  }
  return found;
}

// Appends the calls of `origin` if the class of `id`, the last one of `family`, must declare them.
void append_declared(const Spelling& spelling, DefId origin, const std::vector<DefId>& family, std::vector<Call>& out) {
  const std::vector<DefId> classes = declarers(spelling.model(), family);
  if (classes.back() != family.back()) return;
  for (Call& call : calls_of(spelling, origin)) {
    call.overrides = classes.size() > 1;
    out.push_back(std::move(call));
  }
}

// Returns the classes (stubs or skeletons), of `id` and its ancestors, that have the calls of the abstract interface
// `origin`.
std::vector<DefId> implementers(const Model& model, DefId id, DefId origin) {
  std::vector<DefId> family = ancestors_of(model, id);
  family.push_back(id);
  std::erase_if(family, [&](DefId one) { return is_abstract_interface(model, one) || !derives(model, one, origin); });
  return family;
}

// Returns the interface and its ancestors, without abstract ones.
std::vector<DefId> concrete_family(const Model& model, DefId interface_id) {
  std::vector<DefId> family = construction_order(model, interface_id);
  family.push_back(interface_id);
  std::erase_if(family, [&](DefId id) { return is_abstract_interface(model, id); });
  return family;
}

void add_once(DefId id, std::vector<DefId>& out) {
  if (!contains(out, id)) out.push_back(id);
}

// Returns the non-abstract interfaces whose calls the class of a value declares or inherits.
std::vector<DefId> supported_concrete(const Model& model, DefId value_id) {
  std::vector<DefId> out;
  for (const DefId base : std::get<Valuetype>(model[value_id].body).bases)
    for (const DefId interface : supported_concrete(model, base)) add_once(interface, out);
  for (const DefId interface : std::get<Valuetype>(model[value_id].body).supports)
    for (const DefId id : concrete_family(model, interface)) add_once(id, out);
  return out;
}

}  // namespace

std::vector<Call> calls_of(const Spelling& spelling, DefId id) {
  std::vector<Call> calls;
  const auto append = [&](const auto& body) {
    for (const Operation& operation : body.operations) calls.push_back(call_of(spelling, operation));
    for (const Attribute& attribute : body.attributes) append_calls(attribute, calls);
  };
  const Definition& definition = spelling.model()[id];
  if (const auto* value = std::get_if<Valuetype>(&definition.body))
    append(*value);
  else
    append(std::get<Interface>(definition.body));
  for (Call& call : calls) call.declared_in = id;
  return calls;
}

std::vector<Call> class_calls_of(const Spelling& spelling, DefId interface_id) {
  const Model& model = spelling.model();
  std::vector<Call> calls = calls_of(spelling, interface_id);
  for (const DefId ancestor : construction_order(model, interface_id))
    if (is_abstract_interface(model, ancestor))
      append_declared(spelling, ancestor, implementers(model, interface_id, ancestor), calls);
  return calls;
}

std::vector<DefId> supported_abstract(const Model& model, DefId value_id) {
  std::vector<DefId> out;
  for (const DefId interface : std::get<Valuetype>(model[value_id].body).supports) {
    if (is_abstract_interface(model, interface)) {
      add_once(interface, out);
      continue;
    }
    for (const DefId ancestor : construction_order(model, interface))
      if (is_abstract_interface(model, ancestor)) add_once(ancestor, out);
  }
  return out;
}

std::vector<Call> value_calls_of(const Spelling& spelling, DefId value_id) {
  const Model& model = spelling.model();
  std::vector<Call> calls = calls_of(spelling, value_id);
  for (const DefId origin : supported_concrete(model, value_id)) {
    std::vector<DefId> family = ancestors_of(model, value_id);
    family.push_back(value_id);
    std::erase_if(family, [&](DefId value) { return !contains(supported_concrete(model, value), origin); });
    append_declared(spelling, origin, family, calls);
  }
  return calls;
}

DefId served_by(const Model& model, DefId value_id) {
  if (std::get<Valuetype>(model[value_id].body).kind == ValueKind::abstract) return DefId::none;
  const std::vector<DefId> interfaces = supported_concrete(model, value_id);
  const auto first = std::ranges::find_if(interfaces, [&](DefId id) {
    return std::ranges::all_of(interfaces, [&](DefId other) { return other == id || derives(model, id, other); });
  });
  return first == interfaces.end() ? DefId::none : *first;
}

DefId class_of(const Model& model, DefId interface_id, const Call& call) {
  if (!is_abstract_interface(model, call.declared_in)) return call.declared_in;
  return declarers(model, implementers(model, interface_id, call.declared_in)).back();
}

std::vector<Call> all_calls_of(const Spelling& spelling, DefId interface_id) {
  std::vector<Call> calls = calls_of(spelling, interface_id);
  for (const DefId ancestor : construction_order(spelling.model(), interface_id))
    std::ranges::move(calls_of(spelling, ancestor), std::back_inserter(calls));
  std::ranges::sort(calls, {}, &Call::wire_name);
  return calls;
}

std::vector<DefId> construction_order(const Model& model, DefId interface_id) {
  std::vector<DefId> order;
  append_ancestors(model, interface_id, order);
  return order;
}

std::vector<std::string> sent(const Call& call) { return names_without(call, Direction::out); }
std::vector<std::string> returned(const Call& call) { return names_without(call, Direction::in); }

bool is_accessor(const Call& call) { return call.wire_name.starts_with('_'); }

std::string internal_name(const Call& call) { return is_accessor(call) ? call.wire_name : "_op_" + call.wire_name; }

std::string plain_name(const Call& call) { return is_accessor(call) ? call.wire_name.substr(1) : call.wire_name; }

std::string free_name(std::string_view prefix, std::string root, std::set<std::string>& taken) {
  while (!taken.insert(std::string(prefix) + root).second) root.insert(0, "ami_");  // bound: the number of names
  return std::string(prefix) + root;
}

std::vector<std::string> parameters(const Spelling& spelling, const Call& call) {
  std::vector<std::string> out;
  for (const auto& [name, type, direction] : call.arguments)
    out.push_back((direction == Direction::in ? spelling.in_type(type) : spelling.type(type) + "&") + " " + name);
  return out;
}

std::string result_type(const Spelling& spelling, const Call& call) {
  return call.returns() ? spelling.type(call.result) : "void";
}

}  // namespace corelane::idl::cxx
