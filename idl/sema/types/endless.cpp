#include "idl/sema/types/endless.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace corelane::idl {
namespace {

// A struct or union that each value of another one must contain.
struct Need {
  DefId held;
  const Member* member;  // null for the base of a struct
  bool is_external;
};

class Search {
 public:
  explicit Search(const Model& model)
      : model_(model), missing_(model.definitions.size()), users_(missing_.size()), walks_(missing_.size()) {}

  std::vector<Endless> run() {
    for (std::size_t i = 0; i < missing_.size(); ++i) note(i);
    for (std::size_t done = 0; done < finite_.size(); ++done)  // bound: each definition is added once
      for (const std::size_t user : users_[finite_[done]])
        if (missing_[user] != 0 && --missing_[user] == 0) finite_.push_back(user);
    for (std::size_t i = 0; i < missing_.size(); ++i)
      if (missing_[i] != 0) walk_from(i);
    return std::move(found_);
  }

 private:
  // Counts the needs of a definition. A struct has a finite value if everything it needs has one, a union if one of its
  // branches does.
  void note(std::size_t definition) {
    const std::vector<Need> needs = needs_of(definition);
    for (const Need& need : needs) users_[static_cast<std::size_t>(need.held)].push_back(definition);
    const bool is_union = std::holds_alternative<Union>(model_.definitions[definition].body);
    missing_[definition] = is_union ? std::min<std::size_t>(needs.size(), 1) : needs.size();
    if (needs.empty()) finite_.push_back(definition);
  }

  std::vector<Need> needs_of(std::size_t definition) const {
    std::vector<Need> needs;
    const auto& body = model_.definitions[definition].body;
    if (const auto* structure = std::get_if<Structure>(&body)) {
      if (structure->base != DefId::none) needs.push_back({structure->base, nullptr, false});
      for (const Member& member : structure->members)
        if (const std::optional<Need> need = need_of(member)) needs.push_back(*need);
    } else if (const auto* u = std::get_if<Union>(&body)) {
      if (u->unlabelled && std::ranges::none_of(u->branches, &UnionBranch::is_default)) return {};
      for (const UnionBranch& branch : u->branches) {
        const std::optional<Need> need = need_of(branch.member);
        if (!need) return {};
        needs.push_back(*need);
      }
    }
    return needs;
  }

  std::optional<Need> need_of(const Member& member) const {
    if (member.optional) return std::nullopt;
    bool is_external = false;
    // bound: each step goes to a type that was made earlier
    for (TypeId id = member.type; id != TypeId::none; id = model_.resolved(id).element) {
      const Type& type = model_.resolved(id);
      if (type.kind == TypeKind::structure || type.kind == TypeKind::union_)
        return Need{type.definition, &member, is_external};
      if (type.kind != TypeKind::array && type.kind != TypeKind::external) return std::nullopt;
      is_external = is_external || type.kind == TypeKind::external;
    }
    return std::nullopt;
  }

  // Returns a need that has no finite value. A definition without a finite value has at least one, so each walk ends in
  // a cycle.
  Need next(std::size_t definition) const {
    const std::vector<Need> needs = needs_of(definition);
    return *std::ranges::find_if(needs,
                                 [&](const Need& need) { return missing_[static_cast<std::size_t>(need.held)] != 0; });
  }

  void walk_from(std::size_t start) {
    const std::size_t walk = start + 1;
    std::size_t at = start;
    while (walks_[at] == 0) {  // bound: the definitions, for all walks together
      walks_[at] = walk;
      at = static_cast<std::size_t>(next(at).held);
    }
    if (walks_[at] != walk) return;  // an earlier walk was here
    Need need = next(at);
    while (!need.is_external) need = next(static_cast<std::size_t>(need.held));  // bound: once around the cycle
    found_.push_back({need.member, need.held});
  }

  const Model& model_;
  std::vector<std::size_t> missing_;             // number of unmet needs of each definition; 0: it has a finite value
  std::vector<std::vector<std::size_t>> users_;  // the definitions that need this one
  std::vector<std::size_t> walks_;               // the walk that came here, or 0
  std::vector<std::size_t> finite_;
  std::vector<Endless> found_;
};

}  // namespace

std::vector<Endless> endless_members(const Model& model) { return Search(model).run(); }

}  // namespace corelane::idl
