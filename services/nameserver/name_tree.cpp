#include "services/nameserver/name_tree.h"

#include <algorithm>

namespace corelane::nameserver {

NameTree::Result<void> NameTree::check(const Name& name) const {
  const auto fits = [this](const NameComponent& component) {
    return component.id.size() <= limits_.length && component.kind.size() <= limits_.length;
  };
  if (!name.empty() && name.size() <= limits_.depth && std::all_of(name.begin(), name.end(), fits)) return {};
  return NameFault{NameFaultKind::invalid_name};
}

// Translates a fault of the store about component `at`. If `at` is 0, the context is the one that the call was made on.
NameFault NameTree::fault_at(const Place& place, StoreFault fault) {
  switch (fault) {
    case StoreFault::no_such_context:
      if (place.at == 0) return {NameFaultKind::gone};
      return {.kind = NameFaultKind::dead_end, .at = place.at, .context = place.context};
    case StoreFault::not_found:
      return {.kind = NameFaultKind::not_found, .at = place.at};
    case StoreFault::already_bound:
      return {NameFaultKind::already_bound};
    case StoreFault::not_empty:
    case StoreFault::wrong_type:  // from destroy_context(); bind() handles the one from replace()
      return {NameFaultKind::not_empty};
    case StoreFault::no_target:
      return {NameFaultKind::no_target};
    case StoreFault::not_owner:
      return {NameFaultKind::not_owner};
    case StoreFault::client_full:
      return {NameFaultKind::client_full};
    case StoreFault::full:
      return {NameFaultKind::full};
    case StoreFault::no_space:
      return {NameFaultKind::no_space};
    case StoreFault::unavailable:
      break;
  }
  return {NameFaultKind::unavailable};
}

NameFault NameTree::fault_of_change(const Place& place, const NameComponent& last, StoreFault fault) {
  NameFault found = fault_at(place, fault);
  if (fault != StoreFault::not_owner) return found;
  const auto bound = store_.find(place.context, last);
  found.owner = bound ? bound->bound_by : "";
  return found;
}

NameTree::Result<NameTree::Place> NameTree::walk(ContextId from, const Name& name) {
  if (const auto sound = check(name); !sound) return sound.error();
  Place place{from, 0};
  for (; place.at + 1 < name.size(); ++place.at) {  // bound: limits_.depth
    const auto step = store_.find(place.context, name[place.at]);
    if (!step) return fault_at(place, step.error());
    if (step->type != BindingType::context)
      return NameFault{.kind = NameFaultKind::not_found, .why = NotFoundReason::not_context, .at = place.at};
    if (!step->reference.empty())
      return NameFault{.kind = NameFaultKind::elsewhere, .at = place.at + 1, .reference = step->reference};
    place.context = step->context;
  }
  return place;
}

NameTree::Result<Binding> NameTree::resolve(ContextId from, const Name& name) {
  const auto place = walk(from, name);
  if (!place) return place.error();
  auto binding = store_.find(place->context, name.back());
  if (!binding) return fault_at(*place, binding.error());
  return std::move(*binding);
}

NameTree::Result<void> NameTree::bind(ContextId from, const Name& name, const Binding& binding, IfBound if_bound) {
  const auto place = walk(from, name);
  if (!place) return place.error();
  const auto done = if_bound == IfBound::refuse ? store_.add(place->context, name.back(), binding)
                                                : store_.replace(place->context, name.back(), binding);
  if (done) return {};
  if (done.error() != StoreFault::wrong_type) return fault_of_change(*place, name.back(), done.error());
  const bool is_object = binding.type == BindingType::object;
  return NameFault{.kind = NameFaultKind::not_found,
                   .why = is_object ? NotFoundReason::not_object : NotFoundReason::not_context,
                   .at = place->at};
}

NameTree::Result<void> NameTree::unbind(ContextId from, const Name& name, const std::string& by) {
  const auto place = walk(from, name);
  if (!place) return place.error();
  const auto old = store_.remove(place->context, name.back(), by);
  if (!old) return fault_of_change(*place, name.back(), old.error());
  return {};
}

NameTree::Result<ContextId> NameTree::make_context() {
  const auto made = store_.make_context();
  if (!made) return fault_at({root_context, 0}, made.error());
  return *made;
}

NameTree::Result<ContextId> NameTree::bind_new_context(ContextId from, const Name& name, const std::string& by) {
  const auto place = walk(from, name);
  if (!place) return place.error();
  const auto made = store_.add_context(place->context, name.back(), by);
  if (!made) return fault_at(*place, made.error());
  return *made;
}

NameTree::Result<void> NameTree::destroy(ContextId context, const std::string& by) {
  if (const auto done = store_.destroy_context(context, by); !done) return fault_at({context, 0}, done.error());
  return {};
}

NameTree::Result<std::vector<Entry>> NameTree::list(ContextId context, const NameComponent* after, std::size_t most) {
  auto entries = store_.list(context, after, most);
  if (!entries) return fault_at({context, 0}, entries.error());
  return std::move(*entries);
}

NameTree::Result<void> NameTree::require(ContextId context) {
  const auto there = store_.has_context(context);
  if (!there) return fault_at({context, 0}, there.error());
  if (!*there) return NameFault{NameFaultKind::gone};
  return {};
}

}  // namespace corelane::nameserver
