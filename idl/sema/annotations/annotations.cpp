#include "idl/sema/annotations/annotations.h"

#include <algorithm>
#include <array>
#include <utility>

#include "idl/sema/annotations/task_contract.h"

namespace corelane::idl {
namespace {

constexpr std::string_view task_name = "rt::task";
constexpr std::string_view uses_name = "rt::uses";

struct TargetWord {
  std::string_view word;     // in @applies_to
  std::string_view article;  // in messages
};
constexpr std::array target_words = {TargetWord{"module", "a module"},
                                     TargetWord{"interface", "an interface"},
                                     TargetWord{"valuetype", "a valuetype"},
                                     TargetWord{"struct", "a struct"},
                                     TargetWord{"union", "a union"},
                                     TargetWord{"exception", "an exception"},
                                     TargetWord{"enum", "an enum"},
                                     TargetWord{"enumerator", "an enumerator"},
                                     TargetWord{"bitmask", "a bitmask"},
                                     TargetWord{"bit", "a bit"},
                                     TargetWord{"bitset", "a bitset"},
                                     TargetWord{"bitfield", "a bit field"},
                                     TargetWord{"typedef", "a typedef"},
                                     TargetWord{"const", "a constant"},
                                     TargetWord{"native", "a native type"},
                                     TargetWord{"member", "a member"},
                                     TargetWord{"branch", "a member of a union"},
                                     TargetWord{"discriminator", "a discriminator"},
                                     TargetWord{"operation", "an operation"},
                                     TargetWord{"attribute", "an attribute"},
                                     TargetWord{"parameter", "a parameter"},
                                     TargetWord{"factory", "a factory"}};
static_assert(target_words.size() == static_cast<std::size_t>(Target::factory) + 1);

const ast::AnnotationParameter* written(const ast::Annotation& annotation, std::string_view name) {
  for (const ast::AnnotationParameter& parameter : annotation.parameters)
    if (parameter.name && parameter.name->text == name) return &parameter;
  return nullptr;
}

}  // namespace

Place place_of(const Span& span) { return {static_cast<FileId>(span.source), span.line, span.column, span.length}; }

const Span& AnnotationChecker::value_span(const ast::Annotations& annotations, std::string_view name) {
  static const Span nowhere;
  const Span* found = &nowhere;
  for (const ast::Annotation& annotation : annotations) {
    if (annotation.name.parts.back().text != name) continue;
    found = annotation.parameters.empty() ? &annotation.span : &annotation.parameters.front().value->span;
  }
  return *found;
}

// Declarations.

std::unique_ptr<AnnotationRules> AnnotationChecker::rules(const ast::AnnotationDeclaration& declaration,
                                                          const std::vector<TypeId>& types,
                                                          const ast::Annotations& notes) {
  auto result = std::make_unique<AnnotationRules>();
  result->targets = targets(notes);
  for (std::size_t i = 0; i < declaration.parameters.size(); ++i) {
    const ast::AnnotationParameterDeclaration& source = declaration.parameters[i];
    const TypeId type = types[i];
    names_.declare(SymbolKind::member, source.name);
    AnnotationRules::Parameter made{.name = source.name.text, .type = type, .default_value = std::nullopt};
    if (source.default_value != nullptr && type != TypeId::none)
      made.default_value = value_of(*source.default_value, type, &names_.current());
    result->parameters.push_back(std::move(made));
  }
  return result;
}

// Returns the targets of @applies_to("word word"), one bit each.
std::uint32_t AnnotationChecker::targets(const ast::Annotations& notes) {
  std::uint32_t result = 0;
  for (const ast::Annotation& note : notes) {
    if (note.name.parts.back().text != "applies_to" || note.parameters.size() != 1) continue;
    const auto* text = std::get_if<std::string>(&note.parameters.front().value->node);
    if (text == nullptr) continue;
    const std::string padded = ' ' + *text + ' ';
    for (std::size_t i = 0; i < target_words.size(); ++i)
      if (padded.find(' ' + std::string(target_words[i].word) + ' ') != std::string::npos) result |= 1u << i;
  }
  return result;
}

// Uses.

std::vector<Annotation> AnnotationChecker::check_all(const ast::Annotations& annotations, Target target) {
  std::vector<Annotation> result;
  for (const ast::Annotation& annotation : annotations) result.push_back(check_one(annotation, target));
  return result;
}

Annotations AnnotationChecker::check(const ast::Annotations& annotations, Target target) {
  std::vector<Annotation> result = check_all(annotations, target);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result[i].name == task_name || result[i].name == uses_name)
      diagnostics_.error(annotations[i].span, quoted("@" + result[i].name) + " belongs before an operation");
  return result;
}

Annotations AnnotationChecker::check_operation(const ast::Annotations& annotations,
                                               std::optional<TaskContract>& contract) {
  std::vector<Annotation> result = check_all(annotations, Target::operation);
  const Span* first = nullptr;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i].name != task_name) continue;
    if (first != nullptr) {
      diagnostics_.error(annotations[i].span, "an operation has one `@rt::task`").note(*first, "the first is here");
      continue;
    }
    first = &annotations[i].span;
    contract = contract_of(result[i], annotations[i]);
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i].name != uses_name) continue;
    if (first == nullptr)
      diagnostics_.error(annotations[i].span, "`@rt::uses` needs an `@rt::task` before the same operation");
    else if (contract)
      add_use(result[i], annotations[i], *contract);
  }
  return result;
}

void AnnotationChecker::add_use(const Annotation& checked, const ast::Annotation& source, TaskContract& contract) {
  const Value* const resource = find(checked, "resource");
  const Value* const longest = find(checked, "longest");
  if (resource == nullptr || longest == nullptr) return;  // already reported
  const auto parsed = parse_duration(std::get<std::string>(*longest));
  if (!parsed)
    return report_no_duration("longest", std::get<std::string>(*longest), written(source, "longest")->value->span);
  ResourceUse use{std::get<std::string>(*resource), *parsed};
  const auto fault = fault_of(contract, use);
  if (!fault) return contract.uses.push_back(std::move(use));
  const ast::AnnotationParameter* const parameter = written(source, fault->field);
  diagnostics_.error(parameter != nullptr ? parameter->value->span : source.span, fault->message);
}

void AnnotationChecker::report_no_duration(std::string_view parameter, const std::string& text, const Span& span) {
  diagnostics_.error(span, std::string(parameter) + " is " + quoted(text) +
                               ", which is no duration like \"1500us\" (digits, then ns, us, ms or s)" +
                               duration_hint(text));
}

Annotation AnnotationChecker::check_one(const ast::Annotation& annotation, Target target) {
  Annotation out;
  out.name = ast::to_string(annotation.name);
  if (out.name.starts_with("::")) out.name.erase(0, 2);
  out.place = place_of(annotation.span);
  const Symbol* symbol = names_.find_annotation(annotation.name);
  if (symbol == nullptr || symbol->annotation == nullptr) {
    report_unknown(annotation);
    keep_undeclared(annotation, out);
    return out;
  }
  out.name = symbol->owner->scoped(symbol->name);
  check_declared(annotation, *symbol, out);
  const std::uint32_t targets = symbol->annotation->targets;
  const auto bit = static_cast<std::size_t>(target);
  if (targets != 0 && (targets >> bit & 1) == 0)
    diagnostics_.warning(Warning::annotation, annotation.span,
                         quoted("@" + out.name) + " has no effect before " + std::string(target_words[bit].article));
  return out;
}

void AnnotationChecker::report_unknown(const ast::Annotation& annotation) {
  const std::string name = ast::to_string(annotation.name);
  const bool ours = name.starts_with("rt::") || name.starts_with("::rt::");
  const std::string in_module = "rt::" + name;
  if (!ours) {
    std::string message = "the annotation " + quoted("@" + name) + " is not known and has no effect";
    if (in_module == task_name || in_module == uses_name) message += "; did you mean " + quoted("@" + in_module) + "?";
    diagnostics_.warning(Warning::annotation, annotation.span, std::move(message));
  } else if (names_.file_scope().find_own("rt") == nullptr) {
    diagnostics_.error(annotation.span,
                       quoted("@" + name) + " is declared in <corelane/rt.idl>, which is not included");
  } else {
    const Symbol* module = names_.file_scope().find_own("rt");
    std::string message = quoted("@" + name) + " is not declared";
    if (module->inside != nullptr) {
      const std::string similar = similar_name(*module->inside, annotation.name.parts.back().text, true);
      if (!similar.empty()) message += "; did you mean " + quoted("@rt::" + similar) + "?";
    }
    diagnostics_.error(annotation.span, std::move(message));
  }
}

// Keeps the parameters of an unknown annotation. Skips parameters that are names, since these may be unknown, too.
void AnnotationChecker::keep_undeclared(const ast::Annotation& annotation, Annotation& out) {
  for (const ast::AnnotationParameter& parameter : annotation.parameters) {
    if (std::holds_alternative<ast::ScopedName>(parameter.value->node)) continue;
    if (auto value = constants_.evaluate(*parameter.value))
      out.parameters.push_back({parameter.name ? parameter.name->text : "value", *std::move(value)});
  }
}

void AnnotationChecker::check_declared(const ast::Annotation& annotation, const Symbol& symbol, Annotation& out) {
  const AnnotationRules& rules = *symbol.annotation;
  for (const ast::AnnotationParameter& parameter : annotation.parameters) {
    const AnnotationRules::Parameter* declared = parameter_for(parameter, rules, out);
    if (declared == nullptr || declared->type == TypeId::none) continue;
    const Span& at = parameter.name ? parameter.name->span : parameter.value->span;
    if (find(out, declared->name) != nullptr) {
      diagnostics_.error(at, "the parameter " + quoted(declared->name) + " is given twice");
      continue;
    }
    if (auto value = value_of(*parameter.value, declared->type, symbol.inside.get()))
      out.parameters.push_back({declared->name, *std::move(value)});
  }
  add_defaults(annotation, rules, out);
}

// Returns the declared parameter that is meant; null (reported) if there is none.
const AnnotationRules::Parameter* AnnotationChecker::parameter_for(const ast::AnnotationParameter& parameter,
                                                                   const AnnotationRules& rules,
                                                                   const Annotation& out) {
  if (!parameter.name && rules.parameters.size() == 1) return &rules.parameters.front();
  std::string close;
  for (const AnnotationRules::Parameter& candidate : rules.parameters) {
    if (!parameter.name) break;
    if (candidate.name == parameter.name->text) return &candidate;
    if (candidate.name.front() == parameter.name->text.front()) close = candidate.name;
  }
  std::string message = "name the parameters of " + quoted("@" + out.name);
  if (rules.parameters.empty())
    message = quoted("@" + out.name) + " has no parameters";
  else if (parameter.name)
    message = quoted("@" + out.name) + " has no parameter " + quoted(parameter.name->text);
  if (!close.empty()) message += "; did you mean " + quoted(close) + "?";
  diagnostics_.error(parameter.name ? parameter.name->span : parameter.value->span, std::move(message));
  return nullptr;
}

void AnnotationChecker::add_defaults(const ast::Annotation& annotation, const AnnotationRules& rules, Annotation& out) {
  for (const AnnotationRules::Parameter& declared : rules.parameters) {
    const bool given = std::any_of(annotation.parameters.begin(), annotation.parameters.end(),
                                   [&](const auto& p) { return !p.name || p.name->text == declared.name; });
    if (given) continue;
    if (declared.default_value)
      out.parameters.push_back({declared.name, *declared.default_value});
    else
      diagnostics_.error(annotation.span, quoted("@" + out.name) + " needs the parameter " + quoted(declared.name));
  }
}

// Evaluates a parameter's value. If its type is an enum of the annotation itself (in `choices`), the value is the
// enumerator's name.
std::optional<Value> AnnotationChecker::value_of(const ast::Expression& expression, TypeId type, const Scope* choices) {
  const Type& resolved = model_.resolved(type);
  if (resolved.kind == TypeKind::any) return constants_.evaluate(expression);
  const bool own = resolved.kind == TypeKind::enumeration && choices != nullptr &&
                   model_[resolved.definition].scoped_name.starts_with(choices->path + "::");
  if (own) return choice(expression, resolved, *choices);
  return constants_.evaluate(expression, type);
}

std::optional<Value> AnnotationChecker::choice(const ast::Expression& expression, const Type& type,
                                               const Scope& choices) {
  const auto& enumerators = std::get<Enumeration>(model_[type.definition].body).enumerators;
  if (const auto* name = std::get_if<ast::ScopedName>(&expression.node)) {
    const Symbol* symbol = choices.find_own(name->parts.back().text);
    if (symbol != nullptr && symbol->definition == type.definition && symbol->name == name->parts.back().text)
      return Value{symbol->name};
  }
  std::string message = "expected ";
  for (std::size_t i = 0; i < enumerators.size(); ++i) {
    if (i > 0) message += i + 1 == enumerators.size() ? " or " : ", ";
    message += quoted(enumerators[i].name);
  }
  diagnostics_.error(expression.span, std::move(message));
  return std::nullopt;
}

std::optional<TaskContract> AnnotationChecker::contract_of(const Annotation& checked, const ast::Annotation& source) {
  const std::size_t errors = diagnostics_.errors();
  const auto span_of = [&](std::string_view name) {
    const ast::AnnotationParameter* parameter = written(source, name);
    return parameter != nullptr ? parameter->value->span : source.span;
  };
  const auto value_of = [&](std::string_view name) -> const Value* {
    for (const AnnotationParameter& parameter : checked.parameters)
      if (parameter.name == name) return &parameter.value;
    return nullptr;
  };
  const auto duration = [&](std::string_view name, std::chrono::nanoseconds fallback) {
    const Value* value = value_of(name);
    if (value == nullptr || (std::get<std::string>(*value).empty() && name != "period" && name != "budget"))
      return fallback;
    const auto parsed = parse_duration(std::get<std::string>(*value));
    if (!parsed) report_no_duration(name, std::get<std::string>(*value), span_of(name));
    return parsed.value_or(fallback);
  };
  if (value_of("period") == nullptr || value_of("budget") == nullptr) return std::nullopt;  // already reported

  TaskContract contract;
  contract.place = place_of(source.span);
  contract.period = duration("period", {});
  contract.budget = duration("budget", {});
  contract.deadline = duration("deadline", contract.period);
  contract.jitter = duration("jitter", std::min(contract.period, contract.deadline) / 10);
  contract.suspension = duration("suspension", {});
  if (const Value* value = value_of("importance"))
    contract.importance = static_cast<std::int16_t>(std::get<std::int64_t>(*value));
  if (const Value* value = value_of("intensity"))
    contract.intensity = static_cast<std::uint16_t>(std::get<std::uint64_t>(*value));
  if (const Value* value = value_of("on_overrun")) {
    constexpr std::array<std::string_view, 3> policies = {"report", "demote", "cancel"};
    const auto found = std::find(policies.begin(), policies.end(), std::get<std::string>(*value));
    if (found == policies.end())
      diagnostics_.error(span_of("on_overrun"), "on_overrun is \"report\", \"demote\" or \"cancel\"");
    else
      contract.on_overrun = static_cast<OverrunPolicy>(found - policies.begin());
  }
  if (diagnostics_.errors() != errors) return std::nullopt;
  if (const auto fault = fault_of(contract)) {
    diagnostics_.error(span_of(fault->field), fault->message);
    return std::nullopt;
  }
  return contract;
}

}  // namespace corelane::idl
