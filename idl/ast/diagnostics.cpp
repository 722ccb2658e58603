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
  return add({.severity = Severity::error, .span = at, .message = std::move(message), .notes = {}});
}

Diagnostic& Diagnostics::warning(Warning kind, const Span& at, std::string message) {
  const Policy wanted = policy(kind);
  Diagnostic made{.severity = wanted == Policy::error ? Severity::error : Severity::warning,
                  .span = at,
                  .message = std::move(message),
                  .notes = {},
                  .kind = kind};
  if (wanted == Policy::ignore) return overflow_ = std::move(made);
  return add(std::move(made));
}

Diagnostic& Diagnostics::add(Diagnostic made) {
  std::size_t& count = made.severity == Severity::error ? errors_ : warnings_;
  if (count++ < limit) return kept_.emplace_back(std::move(made));
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
