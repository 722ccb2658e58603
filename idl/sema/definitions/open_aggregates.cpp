#include "idl/sema/definitions/open_aggregates.h"

#include <algorithm>

namespace corelane::idl {

bool OpenAggregates::read_body(Symbol& symbol, DefId id, SourceId file, std::vector<DefId>& contents,
                               const std::function<void()>& read) {
  symbol.defined = false;
  open_.push_back({.symbol = &symbol});
  analysis_.names.inside(symbol, Scope::Kind::members);
  {
    const OpenDefinition open(analysis_.builder, id, symbol, file, contents);
    read();
  }
  const bool recursive = open_.back().recursive;
  open_.pop_back();
  symbol.defined = true;
  return recursive;
}

bool OpenAggregates::is_open(const Symbol& symbol) const {
  return std::ranges::find(open_, &symbol, &Aggregate::symbol) != open_.end();
}

void OpenAggregates::add_member(TypeId member) {
  const Symbol* const incomplete = incomplete_in(member);
  const auto found = std::ranges::find(open_, incomplete, &Aggregate::symbol);
  if (incomplete != nullptr && found != open_.end()) found->recursive = true;
}

// Returns the struct or union in the type that is not defined yet; null if there is none.
const Symbol* OpenAggregates::incomplete_in(TypeId id) const {
  const Model& model = analysis_.model;
  // bound: each step goes to a type that was made earlier
  for (TypeId at = id; at != TypeId::none; at = model[at].element) {
    at = model[at].resolved;
    if (model[at].kind != TypeKind::structure && model[at].kind != TypeKind::union_) continue;
    const Symbol* const found = analysis_.builder.symbol_of(at);
    return found != nullptr && !found->defined ? found : nullptr;
  }
  return nullptr;
}

}  // namespace corelane::idl
