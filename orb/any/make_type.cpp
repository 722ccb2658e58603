#include "orb/any/make_type.h"

#include <algorithm>
#include <map>
#include <set>

#include "orb/any/graph.h"

namespace corelane::any {
namespace {

// Copier copies types into its own graph. A recursive type that waits for `closing_id` is replaced by `closed`.
class Copier {
 public:
  Copier(Graph& graph, bool with_names) : graph_(graph), with_names_(with_names) {}

  void close(std::string_view id, const TypeDesc& type) {
    closing_id_ = id;
    closed_ = &type;
  }

  const TypeDesc* copy(const TypeDesc* from) {
    if (from == nullptr) return nullptr;
    if (from->kind == recursive_kind && from->id == closing_id_ && closed_ != nullptr) return closed_;
    if (const auto seen = copies_.find(from); seen != copies_.end()) return seen->second;
    TypeDesc& to = graph_.types.emplace_back(*from);
    copies_.emplace(from, &to);
    to.id = graph_.keep(from->id);
    to.name = with_names_ ? graph_.keep(from->name) : std::string_view{};
    to.content = copy(from->content);
    std::vector<MemberDesc>& members = graph_.members.emplace_back(from->members.begin(), from->members.end());
    for (MemberDesc& member : members) {
      member.name = with_names_ ? graph_.keep(member.name) : std::string_view{};
      member.type = copy(member.type);
    }
    to.members = members;
    to.by_label = graph_.indexes.emplace_back(from->by_label.begin(), from->by_label.end());
    return &to;
  }

 private:
  Graph& graph_;
  const bool with_names_;
  std::string_view closing_id_;
  const TypeDesc* closed_ = nullptr;
  std::map<const TypeDesc*, const TypeDesc*> copies_;
};

bool waits_for(const TypeDesc& type, std::string_view id, std::set<const TypeDesc*>& seen) {
  if (type.kind == recursive_kind) return id.empty() || type.id == id;
  if (!seen.insert(&type).second) return false;
  if (type.content != nullptr && waits_for(*type.content, id, seen)) return true;
  for (const MemberDesc& member : type.members)
    if (member.type != nullptr && waits_for(*member.type, id, seen)) return true;
  return false;
}

bool waits_for(const TypeDesc& type, std::string_view id) {
  std::set<const TypeDesc*> seen;
  return waits_for(type, id, seen);
}

// Returns the part for use in `type`: the part itself, which is kept alive, or a copy in which `type` closes the cycle.
const TypeDesc* part(Graph& graph, Copier& copier, const TypeDesc& type, const TypeCode& from) {
  if (!type.id.empty() && waits_for(*from, type.id)) return copier.copy(&*from);
  if (from.owner()) graph.owners.push_back(from.owner());
  return &*from;
}

}  // namespace

bool index_labels(Graph& graph, TypeDesc& type) {
  std::vector<std::uint32_t>& index = graph.indexes.emplace_back();
  index.reserve(type.members.size());
  for (std::size_t i = 0; i < type.members.size(); ++i)
    if (type.default_index < 0 || i != static_cast<std::size_t>(type.default_index))
      index.push_back(static_cast<std::uint32_t>(i));
  const auto label = [&](std::uint32_t member) { return type.members[member].label; };
  std::ranges::sort(index, {}, label);
  type.by_label = index;
  return std::ranges::adjacent_find(index, {}, label) == index.end();
}

TypeCode make_type(const TypeSpec& spec) {
  const auto graph = std::make_shared<Graph>();
  TypeDesc& type = graph->types.emplace_back();
  type.kind = spec.kind;
  type.id = graph->keep(spec.id);
  type.name = graph->keep(spec.name);
  type.length = spec.length;
  type.digits = spec.digits;
  type.scale = spec.scale;
  type.default_index = spec.default_index;
  type.modifier = spec.modifier;
  Copier copier(*graph, true);
  copier.close(type.id, type);
  if (spec.has_content) type.content = part(*graph, copier, type, spec.content);
  std::vector<MemberDesc>& members = graph->members.emplace_back();
  for (const MemberSpec& member : spec.members) {
    const bool is_name = spec.kind == Kind::enumeration;
    members.push_back({graph->keep(member.name), is_name ? nullptr : part(*graph, copier, type, member.type),
                       member.label, member.visibility});
  }
  type.members = members;
  if (type.kind == Kind::union_) (void)index_labels(*graph, type);
  return TypeCode(type, graph);
}

TypeCode recursive_type(const std::string& id) { return make_type({.kind = recursive_kind, .id = id}); }

bool is_complete(const TypeDesc& type) { return !waits_for(type, {}); }

TypeCode compact(const TypeCode& type) {
  const auto graph = std::make_shared<Graph>();
  const TypeDesc* copy = Copier(*graph, false).copy(&*type);
  return TypeCode(*copy, graph);
}

}  // namespace corelane::any
