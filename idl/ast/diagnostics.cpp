#include "idl/ast/diagnostics.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace corelane::idl {

Diagnostic& Diagnostic::note(const Span& at, std::string text) {
  notes.push_back({at, std::move(text)});
  return *this;
}

std::string quoted(std::string_view text) {
  std::string result("`");
  result.append(text);
  result.push_back('`');
  return result;
}

Diagnostic& Diagnostics::error(const Span& at, std::string message) {
  ++errors_;
  return add(Severity::error, at, std::move(message));
}

Diagnostic& Diagnostics::warning(const Span& at, std::string message) {
  return add(Severity::warning, at, std::move(message));
}

Diagnostic& Diagnostics::add(Severity severity, const Span& at, std::string message) {
  Diagnostic made{.severity = severity, .span = at, .message = std::move(message), .notes = {}};
  if (kept_.size() < limit) return kept_.emplace_back(std::move(made));
  ++dropped_;
  return overflow_ = std::move(made);
}

std::vector<const Diagnostic*> Diagnostics::sorted() const {
  std::vector<const Diagnostic*> result;
  for (const Diagnostic& diagnostic : kept_) result.push_back(&diagnostic);
  const auto place = [](const Diagnostic* d) { return std::tuple(d->span.source, d->span.line, d->span.column); };
  std::stable_sort(result.begin(), result.end(), [&](auto* a, auto* b) { return place(a) < place(b); });
  return result;
}

}  // namespace corelane::idl
