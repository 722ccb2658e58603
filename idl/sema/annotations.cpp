#include "idl/sema/annotations.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "idl/sema/task_contract.h"

namespace corelane::idl {
namespace {

constexpr std::string_view task_name = "rt::task";

// Chapter 8 of IDL 4.2 and what DDS adds to it; parsed and kept.
constexpr std::array<std::string_view, 32> standard_annotations = {"id",
                                                                   "autoid",
                                                                   "optional",
                                                                   "extensibility",
                                                                   "final",
                                                                   "appendable",
                                                                   "mutable",
                                                                   "position",
                                                                   "value",
                                                                   "key",
                                                                   "must_understand",
                                                                   "default_literal",
                                                                   "default",
                                                                   "range",
                                                                   "min",
                                                                   "max",
                                                                   "unit",
                                                                   "bit_bound",
                                                                   "external",
                                                                   "nested",
                                                                   "verbatim",
                                                                   "service",
                                                                   "oneway",
                                                                   "ami",
                                                                   "cpp_mapping",
                                                                   "hashid",
                                                                   "topic",
                                                                   "data_representation",
                                                                   "try_construct",
                                                                   "non_serialized",
                                                                   "default_nested",
                                                                   "ignore_literal_names"};

bool is_standard(std::string_view name) {
  return std::find(standard_annotations.begin(), standard_annotations.end(), name) != standard_annotations.end();
}

const ast::AnnotationParameter* written(const ast::Annotation& annotation, std::string_view name) {
  for (const ast::AnnotationParameter& parameter : annotation.parameters)
    if (parameter.name && parameter.name->text == name) return &parameter;
  return nullptr;
}

std::string scoped_name(const Symbol& symbol) { return symbol.owner->scoped(symbol.name); }

}  // namespace

Place place_of(const Span& span) { return {static_cast<FileId>(span.source), span.line, span.column, span.length}; }

std::vector<Annotation> AnnotationChecker::check_all(const ast::Annotations& annotations) {
  std::vector<Annotation> result;
  for (const ast::Annotation& annotation : annotations) result.push_back(check_one(annotation));
  return result;
}

std::vector<Annotation> AnnotationChecker::check(const ast::Annotations& annotations) {
  std::vector<Annotation> result = check_all(annotations);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result[i].name == task_name) diagnostics_.error(annotations[i].span, "`@rt::task` belongs before an operation");
  return result;
}

std::vector<Annotation> AnnotationChecker::check_operation(const ast::Annotations& annotations,
                                                           std::optional<TaskContract>& contract) {
  std::vector<Annotation> result = check_all(annotations);
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
  return result;
}

Annotation AnnotationChecker::check_one(const ast::Annotation& annotation) {
  Annotation out;
  out.name = ast::to_string(annotation.name);
  if (out.name.starts_with("::")) out.name.erase(0, 2);
  out.place = place_of(annotation.span);
  const Symbol* symbol = names_.find_annotation(annotation.name);
  if (symbol != nullptr && symbol->annotation != nullptr) {
    out.name = scoped_name(*symbol);
    check_declared(annotation, *symbol->annotation, out);
  } else {
    if (!is_standard(out.name)) report_unknown(annotation);
    keep_undeclared(annotation, out);
  }
  return out;
}

void AnnotationChecker::report_unknown(const ast::Annotation& annotation) {
  const std::string name = ast::to_string(annotation.name);
  const bool ours = name.starts_with("rt::") || name.starts_with("::rt::");
  if (!ours) {
    diagnostics_.warning(annotation.span, "the annotation " + quoted("@" + name) + " is not known and has no effect");
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

void AnnotationChecker::keep_undeclared(const ast::Annotation& annotation, Annotation& out) {
  const bool known = is_standard(out.name);
  for (const ast::AnnotationParameter& parameter : annotation.parameters) {
    // The parameters of an unknown annotation may name what we do not know either.
    if (!known && std::holds_alternative<ast::ScopedName>(parameter.value->node)) continue;
    const bool names_literal = std::holds_alternative<ast::ScopedName>(parameter.value->node);
    if (names_literal && out.name != "default" && out.name != "value") continue;  // @extensibility(FINAL) and the like
    if (auto value = constants_.evaluate(*parameter.value))
      out.parameters.push_back({parameter.name ? parameter.name->text : "value", *std::move(value)});
  }
}

TypeId AnnotationChecker::parameter_type(const ast::TypeSpec& type) {
  if (const auto* basic = std::get_if<ast::BasicType>(&type.node)) return types_.basic(static_cast<TypeKind>(*basic));
  const auto* name = std::get_if<ast::ScopedName>(&type.node);
  const Symbol* symbol = name != nullptr ? names_.resolve(*name) : nullptr;
  return symbol != nullptr ? symbol->type : TypeId::none;
}

void AnnotationChecker::check_declared(const ast::Annotation& annotation, const ast::AnnotationDeclaration& declaration,
                                       Annotation& out) {
  std::set<std::string> seen;
  for (const ast::AnnotationParameter& parameter : annotation.parameters) {
    const ast::AnnotationParameterDeclaration* declared = nullptr;
    if (!parameter.name && declaration.parameters.size() == 1) declared = &declaration.parameters.front();
    std::string close;
    for (const auto& candidate : declaration.parameters) {
      if (!parameter.name) break;
      if (candidate.name.text == parameter.name->text) declared = &candidate;
      if (!candidate.name.text.empty() && candidate.name.text.front() == parameter.name->text.front())
        close = candidate.name.text;
    }
    const Span at = parameter.name ? parameter.name->span : parameter.value->span;
    if (declared == nullptr) {
      std::string message = parameter.name
                                ? quoted("@" + out.name) + " has no parameter " + quoted(parameter.name->text)
                                : "name the parameters of " + quoted("@" + out.name);
      if (!close.empty()) message += "; did you mean " + quoted(close) + "?";
      diagnostics_.error(at, std::move(message));
      continue;
    }
    if (!seen.insert(declared->name.text).second) {
      diagnostics_.error(at, "the parameter " + quoted(declared->name.text) + " is given twice");
      continue;
    }
    const TypeId type = parameter_type(declared->type);
    if (type == TypeId::none) continue;
    if (auto value = constants_.evaluate(*parameter.value, type))
      out.parameters.push_back({declared->name.text, *std::move(value)});
  }
  for (const auto& declared : declaration.parameters)
    if (declared.default_value == nullptr && seen.count(declared.name.text) == 0)
      diagnostics_.error(annotation.span,
                         quoted("@" + out.name) + " needs the parameter " + quoted(declared.name.text));
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
    if (!parsed) {
      diagnostics_.error(span_of(name), std::string(name) + " is " + quoted(std::get<std::string>(*value)) +
                                            ", which is no duration like \"1500us\" (digits, then ns, us, ms or s)");
    }
    return parsed.value_or(fallback);
  };
  if (value_of("period") == nullptr || value_of("budget") == nullptr) return std::nullopt;  // reported before

  TaskContract contract;
  contract.place = place_of(source.span);
  contract.period = duration("period", {});
  contract.budget = duration("budget", {});
  contract.deadline = duration("deadline", contract.period);
  contract.jitter = duration("jitter", std::min(contract.period, contract.deadline) / 10);
  contract.suspension = duration("suspension", {});
  if (const Value* value = value_of("importance"))
    contract.importance = static_cast<std::int16_t>(std::get<std::int64_t>(*value));
  if (const Value* value = value_of("on_overrun")) {
    constexpr std::array<std::string_view, 3> policies = {"report", "demote", "cancel"};
    const auto found = std::find(policies.begin(), policies.end(), std::get<std::string>(*value));
    if (found == policies.end())
      diagnostics_.error(span_of("on_overrun"), "on_overrun is \"report\", \"demote\" or \"cancel\"");
    else if (found != policies.begin())  // the scheduler would refuse the task
      diagnostics_.error(span_of("on_overrun"),
                         "on_overrun = \"" + std::string(*found) + "\" is not supported yet; use \"report\"");
  }
  if (diagnostics_.errors() != errors) return std::nullopt;
  if (const auto fault = fault_of(contract)) {
    diagnostics_.error(span_of(fault->field), fault->message);
    return std::nullopt;
  }
  return contract;
}

}  // namespace corelane::idl
