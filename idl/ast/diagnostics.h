// Diagnostics: what is wrong with the text, collected by every stage, in the form that render() prints.
//
// Threads: one owner.
// Invariants: at most `limit` errors and as many warnings are kept, so that a broken file of any size costs bounded
// memory; what comes after is only counted.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/source.h"
#include "idl/ast/warnings.h"

namespace corelane::idl {

enum class Severity : std::uint8_t { error, warning };

struct Diagnostic {
  struct Note {
    Span span;
    std::string message;
  };

  Severity severity = Severity::error;
  Span span;
  std::string message;
  std::vector<Note> notes;
  std::optional<Warning> kind = {};  // of a warning, also where it counts as an error

  // Adds "note: ..." at another place.
  Diagnostic& note(const Span& at, std::string text);
};

// A piece of the text inside a message: `text`.
std::string quoted(std::string_view text);

class Diagnostics {
 public:
  static constexpr std::size_t limit = 50;

  // What becomes of warnings of each kind: by default what warning_texts says.
  Policy policy(Warning kind) const { return policies_[static_cast<std::size_t>(kind)]; }
  void set_policy(Warning kind, Policy policy) { policies_[static_cast<std::size_t>(kind)] = policy; }

  // The reference is valid as long as this object; past the limit it refers to one that is thrown away.
  Diagnostic& error(const Span& at, std::string message);
  Diagnostic& warning(Warning kind, const Span& at, std::string message);

  bool has_errors() const { return errors_ > 0; }
  std::size_t errors() const { return errors_; }             // counted past the limit
  bool has_enough() const { return errors_ >= 20 * limit; }  // of errors: a stage may give up
  std::size_t dropped() const { return dropped_; }           // diagnostics past the limit

  // In the order of the text: by source, line and column.
  std::vector<const Diagnostic*> sorted() const;

 private:
  Diagnostic& add(Diagnostic made);

  std::deque<Diagnostic> kept_;
  Diagnostic overflow_;
  std::array<Policy, warning_texts.size()> policies_ = usual_policies();
  std::size_t warnings_ = 0;
  std::size_t errors_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace corelane::idl
