#include "idl/sema/definitions/local_types.h"

#include <string>
#include <utility>
#include <variant>

namespace corelane::idl {

void LocalTypes::add_member(TypeId holder, TypeId member) {
  const Symbol* const local = member == TypeId::none ? nullptr : local_in(member);
  if (local != nullptr) in_types_[holder] = local;
}

void LocalTypes::add_member(const Symbol& exception, TypeId member) {
  const Symbol* const local = member == TypeId::none ? nullptr : local_in(member);
  if (local != nullptr) in_exceptions_[&exception] = local;
}

void LocalTypes::check_remote(TypeId type, const Span& at, std::string_view what) const {
  if (type == TypeId::none || !is_remote()) return;
  const Symbol* local = local_in(type);
  if (local != nullptr && local->kind != SymbolKind::native) report(at, what, *local);
}

bool LocalTypes::check_raised(const Symbol& raised, const Span& at) const {
  if (!is_remote()) return false;
  const Symbol* local = &raised;
  if (raised.kind == SymbolKind::exception) {
    const auto held = in_exceptions_.find(&raised);
    if (held == in_exceptions_.end()) return false;
    local = held->second;
  }
  report(at, "exception", *local);
  return true;
}

// CORBA 3.3 part 1, 7.8.6.4: the state of a value must not contain a local type.
void LocalTypes::check_state(TypeId type, const Span& at, std::string_view what) const {
  const Symbol* local = type == TypeId::none ? nullptr : local_in(type);
  if (local != nullptr) report(at, what, *local);
}

// Returns the local interface or native type that the type is or contains; null if there is none.
const Symbol* LocalTypes::local_in(TypeId id) const {
  const Model& model = analysis_.model;
  // bound: each step goes to a type that was made earlier
  for (TypeId at = id; at != TypeId::none; at = model[at].element) {
    at = model[at].resolved;
    const Symbol* const symbol = analysis_.builder.symbol_of(at);
    const bool is_local = model[at].kind == TypeKind::interface && symbol != nullptr &&
                          symbol->flavour == static_cast<std::uint8_t>(ast::InterfaceKind::local);
    if (is_local || (model[at].kind == TypeKind::native && symbol != nullptr)) return symbol;
    if (const auto held = in_types_.find(at); held != in_types_.end()) return held->second;
  }
  return nullptr;
}

bool LocalTypes::is_remote() const {
  const DefId scope = analysis_.builder.scope();
  const auto* interface = scope == DefId::none ? nullptr : std::get_if<Interface>(&analysis_.model[scope].body);
  return interface != nullptr && interface->kind != InterfaceKind::local;
}

void LocalTypes::report(const Span& at, std::string_view what, const Symbol& local) const {
  std::string message = "this " + std::string(what) + " cannot leave the process: " + quoted(local.name);
  message += local.kind == SymbolKind::native ? " is a native type" : " is a local interface";
  analysis_.diagnostics.error(at, std::move(message)).note(local.span, "declared here");
}

}  // namespace corelane::idl
