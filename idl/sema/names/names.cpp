#include "idl/sema/names/names.h"

#include <utility>

#include "idl/ast/keywords.h"

namespace corelane::idl {

namespace {

bool is_harmless(SymbolKind kind) {
  return kind == SymbolKind::member || kind == SymbolKind::operation || kind == SymbolKind::attribute;
}

}  // namespace

OpenScope::OpenScope(Names& names, Scope::Kind kind, const std::string& own_name)
    : names_(names), before_(names.current_) {
  own_.kind = kind;
  own_.parent = before_;
  own_.own_name = own_name;
  own_.path = own_name.empty() ? before_->path : before_->scoped(own_name);
  names.current_ = &own_;
}

Scope& Names::inside(Symbol& symbol, Scope::Kind kind) {
  if (symbol.inside == nullptr) {
    symbol.inside = std::make_unique<Scope>();
    symbol.inside->kind = kind;
    symbol.inside->parent = current_;
    symbol.inside->symbol = &symbol;
    symbol.inside->own_name = symbol.name;
    symbol.inside->path = current_->scoped(symbol.name);
  }
  return *symbol.inside;
}

Symbol& Names::declare(SymbolKind kind, const ast::Identifier& name) {
  auto symbol = std::make_unique<Symbol>();
  symbol->kind = kind;
  symbol->name = name.text;
  symbol->span = name.span;
  symbol->owner = current_;
  Symbol& result = *symbol;
  const std::string key = lower_case(name.text);
  const Symbol* const earlier = current_->find_own(name.text);
  if (earlier != nullptr && !earlier->announced) {
    report_taken(name, *earlier);
    refused_.push_back(std::move(symbol));
    return result;
  }
  // The name of a module that was never opened is free. SymbolIds::finish() reports that module.
  if (earlier != nullptr) refused_.push_back(std::move(current_->symbols[key]));
  if (const auto use = current_->used.find(key); use != current_->used.end()) {
    report_used(kind, name, use->second);
  } else if (key == lower_case(current_->own_name)) {
    report_own_name(kind, name);
  } else {
    check_inherited(name);
  }
  current_->symbols[key] = std::move(symbol);
  return result;
}

// Reports a name that equals the name of its scope. A member that differs from it in case is harmless, since its name
// has no other meaning. With the same spelling, C++ would take it for the constructor.
void Names::report_own_name(SymbolKind kind, const ast::Identifier& name) {
  std::string message = quoted(name.text) + " has the name of the scope around it";
  if (is_harmless(kind) && name.text != current_->own_name)
    diagnostics_.warning(Warning::lenient, name.span, std::move(message));
  else
    diagnostics_.error(name.span, std::move(message));
}

// Reports a name that was used before with another meaning. If the declaration names no type, it cannot change the
// meaning of what follows. So other compilers accept it: most accept members, some accept the others.
void Names::report_used(SymbolKind kind, const ast::Identifier& name, const Scope::Use& use) {
  std::string message = quoted(name.text);
  if (use.name == name.text)
    message += " already has a meaning in this scope";
  else
    message +=
        " differs only in case from " + quoted(use.name) + ", which this scope uses: IDL takes them for one name";
  const bool harmless = is_harmless(kind);
  const bool member = kind == SymbolKind::member && current_->kind != Scope::Kind::operation;
  const Warning warning = member ? Warning::lenient : Warning::reuse;
  Diagnostic& fault = harmless ? diagnostics_.warning(warning, name.span, std::move(message))
                               : diagnostics_.error(name.span, std::move(message));
  fault.note(use.span, quoted(use.name) + " of an outer scope is used here" + another_name(*current_, name.text));
}

// Reports an operation or attribute whose name differs only in case from a type of an outer scope that its scope uses
// later. It has no other meaning there, so the type was meant. Reports each such name once.
void Names::report_passed(const Symbol& passed, const ast::Identifier& use) {
  Scope& scope = *passed.owner;
  if (!scope.used.try_emplace(lower_case(use.text), Scope::Use{use.text, use.span}).second) return;
  diagnostics_
      .warning(Warning::reuse, passed.span,
               quoted(passed.name) + " differs only in case from " + quoted(use.text) +
                   ", which this scope uses: IDL takes them for one name")
      .note(use.span, quoted(use.text) + " of an outer scope is used here" + another_name(scope, passed.name));
}

// Returns a hint with the first free name among common choices: "; name this `the_listener`, for example".
std::string Names::another_name(const Scope& scope, const std::string& name) {
  for (const std::string_view prefix : {"the_", "a_", "my_"}) {
    const std::string other = std::string(prefix) + name;
    if (scope.find_own(other) == nullptr && !scope.used.contains(lower_case(other)))
      return "; name this " + quoted(other) + ", for example";
  }
  return "; rename either";
}

void Names::check_inherited(const ast::Identifier& name) {
  const auto inherited = current_->inherited.find(lower_case(name.text));
  if (inherited == current_->inherited.end()) return;
  const Symbol& earlier = *inherited->second;
  diagnostics_
      .error(name.span, quoted(name.text) + " is already " + std::string(article_name(earlier.kind)) + " of the base " +
                            quoted(earlier.owner->path))
      .note(earlier.span, "declared here");
}

void Names::report_taken(const ast::Identifier& name, const Symbol& earlier) {
  if (earlier.name == name.text) {
    diagnostics_.error(name.span, quoted(name.text) + " is declared twice").note(earlier.span, "first declared here");
  } else {
    diagnostics_.error(name.span, quoted(name.text) + " differs from " + quoted(earlier.name) + " only in case")
        .note(earlier.span, quoted(earlier.name) + " is declared here");
  }
}

// Searches the bases. A name hides names with the same spelling in further bases. Two paths to one base count as one.
void Names::find_in_bases(const Scope& scope, const std::string& name, Found& found, Seen& seen) {
  // recursion: limited by Scope::deepest_inheritance
  for (const Scope* base : scope.bases) {
    if (!seen.insert(base).second) continue;
    Symbol* const own = base->find_own(name);
    if (own == nullptr) {
      find_in_bases(*base, name, found, seen);
    } else if (found.symbol == nullptr) {
      found.symbol = own;
    } else if (found.symbol != own) {
      found.other = own;
    }
  }
}

Names::Found Names::find_in(const Scope& scope, const std::string& name) {
  Found found;
  found.symbol = scope.find_own(name);
  Seen seen;
  if (found.symbol == nullptr) find_in_bases(scope, name, found, seen);
  return found;
}

// Searches from the current scope outwards. Passes an operation or attribute whose name differs from `name` in case if
// an outer scope has the very name; the result says so.
Names::Found Names::find_outwards(const std::string& name, const Scope** where) const {
  Found first;
  // bound: the nesting of scopes, which the parser limits
  for (const Scope* scope = current_; scope != nullptr; scope = scope->parent) {
    if (scope->kind == Scope::Kind::operation) continue;
    const Found found = find_in(*scope, name);
    // An expression or a type cannot name a member or a parameter.
    if (scope->kind == Scope::Kind::members && found.symbol != nullptr && found.symbol->kind == SymbolKind::member)
      continue;
    if (first.symbol == nullptr) *where = scope;
    if (found.symbol == nullptr) continue;
    if (first.symbol != nullptr) {
      if (found.symbol->name != name) break;
      *where = scope;
      return {.symbol = found.symbol, .other = found.other, .passed = first.symbol};
    }
    if (found.symbol->name == name || !is_harmless(found.symbol->kind) || found.symbol->owner != scope) return found;
    first = found;
  }
  return first;
}

bool Names::is_known(const std::string& name) const {
  const Scope* where = nullptr;
  return find_outwards(name, &where).symbol != nullptr;
}

Symbol* Names::resolve(const ast::ScopedName& name) {
  Symbol* symbol = resolve_first(name);
  for (std::size_t i = 1; symbol != nullptr && i < name.parts.size(); ++i) {
    if (symbol->kind == SymbolKind::unusable) return symbol;
    symbol = resolve_inside(*symbol, name, i);
  }
  return symbol;
}

Symbol* Names::resolve_first(const ast::ScopedName& name) {
  const ast::Identifier& first = name.parts.front();
  if (name.absolute) {
    const Found found = find_in(file_, first.text);
    if (found.symbol == nullptr) report_unknown(file_, first, true);
    return found.symbol == nullptr ? nullptr : checked(found, first);
  }
  const Scope* where = nullptr;
  const Found found = find_outwards(first.text, &where);
  if (found.symbol == nullptr) {
    report_unknown(name);
    return nullptr;
  }
  if (found.passed != nullptr) report_passed(*found.passed, first);
  if (found.symbol->owner != current_) note_use(first);
  return checked(found, first);
}

Symbol* Names::resolve_inside(Symbol& outer, const ast::ScopedName& name, std::size_t part) {
  const ast::Identifier& wanted = name.parts[part];
  if (outer.inside == nullptr) {
    std::string message = quoted(outer.name);
    if (outer.kind == SymbolKind::interface || outer.kind == SymbolKind::value)
      message += " is not defined yet, so it has no ";
    else
      message.append(" is ").append(article_name(outer.kind)).append(" and has no ");
    Diagnostic& fault = diagnostics_.error(wanted.span, message + quoted(wanted.text));
    const Symbol* beside = outer.kind == SymbolKind::enumeration ? outer.owner->find_own(wanted.text) : nullptr;
    if (beside == nullptr || beside->kind != SymbolKind::enumerator || beside->definition != outer.definition)
      return nullptr;
    ast::ScopedName right = name;
    right.parts.erase(right.parts.begin() + static_cast<std::ptrdiff_t>(part) - 1);
    fault.message += "; enumerators stand beside their enum: write " + quoted(ast::to_string(right));
    return nullptr;
  }
  const Found found = find_in(*outer.inside, wanted.text);
  if (found.symbol != nullptr) return checked(found, wanted);
  report_unknown(*outer.inside, wanted, true);
  return nullptr;
}

Symbol* Names::checked(const Found& found, const ast::Identifier& name) {
  if (found.other != nullptr) {
    diagnostics_.error(name.span, quoted(name.text) + " is inherited from two interfaces")
        .note(found.symbol->span, "one is declared here")
        .note(found.other->span, "another is declared here");
    return nullptr;
  }
  if (found.symbol->name != name.text) {
    diagnostics_
        .error(name.span, quoted(name.text) + " is spelled " + quoted(found.symbol->name) + " where it is declared")
        .note(found.symbol->span, "declared here");
  }
  return found.symbol;
}

// IDL 4.2, 7.5.3: after a scope has used a name of an outer scope, it cannot declare that name.
void Names::note_use(const ast::Identifier& name) {
  const std::string key = lower_case(name.text);
  current_->used.try_emplace(key, Scope::Use{name.text, name.span});
  if (current_->kind == Scope::Kind::operation && current_->parent->find_own(name.text) == nullptr)
    current_->parent->used.try_emplace(key, Scope::Use{name.text, name.span});
}

// Reports a name that does not begin in this scope. For a type of C++'s library, it names the type of IDL.
void Names::report_unknown(const ast::ScopedName& name) {
  const bool of_cpp = name.parts.size() == 2 && name.parts.front().text == "std";
  const std::string_view own = of_cpp ? type_for_foreign(name.parts.back().text) : std::string_view();
  if (own.empty()) return report_unknown(*current_, name.parts.front(), false);
  diagnostics_.error(name.span,
                     quoted(ast::to_string(name)) + " is a type of C++; write " + quoted(own) + ", the type of IDL");
}

void Names::report_unknown(const Scope& scope, const ast::Identifier& name, bool only_here) {
  std::string message = quoted(name.text) + " is not declared";
  if (only_here && !scope.path.empty()) message += " in " + quoted(scope.path);
  // The search takes time proportional to the number of names, so it is only made for messages that are shown.
  const bool shown = diagnostics_.errors() < Diagnostics::limit;
  const std::string similar = shown ? similar_name(scope, name.text, only_here) : std::string();
  const std::string_view anywhere = only_here ? std::string_view() : name.text;  // keywords and types are in no scope
  if (const std::string_view keyword = keyword_like(anywhere); !keyword.empty())
    message += "; did you mean the keyword " + quoted(keyword) + "?";
  else if (const std::string_view own = type_for_foreign(anywhere); !own.empty())
    message += "; write " + quoted(own) + ", the type of IDL";
  else if (!similar.empty())
    message += "; did you mean " + quoted(similar) + "?";
  else if (const std::string_view type = similar_type(anywhere); !type.empty())
    message += "; did you mean the type " + quoted(type) + "?";
  diagnostics_.error(name.span, std::move(message));
}

Symbol* Names::find_annotation(const ast::ScopedName& name) {
  const Scope* where = &file_;
  const std::string& first = name.parts.front().text;
  Found found = name.absolute ? find_in(file_, first) : find_outwards(first, &where);
  for (std::size_t i = 1; found.symbol != nullptr && i < name.parts.size(); ++i) {
    if (found.symbol->inside == nullptr) return nullptr;
    found = find_in(*found.symbol->inside, name.parts[i].text);
  }
  const auto is_annotation = [](const Symbol* symbol) {
    return symbol != nullptr && symbol->kind == SymbolKind::annotation;
  };
  if (is_annotation(found.symbol)) return found.symbol;
  Symbol* standard = name.parts.size() == 1 ? standard_.find_own(first) : nullptr;
  return is_annotation(standard) && standard->name == first ? standard : nullptr;
}

void report_kind(Diagnostics& diagnostics, const ast::ScopedName& name, const Symbol& symbol, std::string_view wanted) {
  diagnostics
      .error(name.span, quoted(ast::to_string(name)) + " is " + std::string(article_name(symbol.kind)) + ", not " +
                            std::string(wanted))
      .note(symbol.span, "declared here");
}

}  // namespace corelane::idl
