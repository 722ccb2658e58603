// Diagnostics collects what every stage finds wrong with the text. render() prints it.
//
// Threads: one owner.
// Invariants: keeps at most `limit` errors and as many warnings, so that a broken file of any size needs bounded
// memory. Further ones are only counted.
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
  std::optional<Warning> kind = {};  // of a warning, even if it counts as an error

  // Adds "note: ..." at another place.
  Diagnostic& note(const Span& at, std::string text);
};

// Returns a piece of the text in the quotes that messages use: `text`.
std::string quoted(std::string_view text);

class Diagnostics {
 public:
  static constexpr std::size_t limit = 50;

  // How warnings of a kind are treated. The default is in warning_texts.
  Policy policy(Warning kind) const { return policies_[static_cast<std::size_t>(kind)]; }
  void set_policy(Warning kind, Policy policy) { policies_[static_cast<std::size_t>(kind)] = policy; }

  // The reference is valid as long as this object. Past the limit it refers to a diagnostic that is not kept.
  Diagnostic& error(const Span& at, std::string message);
  Diagnostic& warning(Warning kind, const Span& at, std::string message);

  bool has_errors() const { return errors_ > 0; }
  std::size_t errors() const { return errors_; }             // including those past the limit
  bool has_enough() const { return errors_ >= 20 * limit; }  // so many errors that a stage may stop
  std::size_t dropped() const { return dropped_; }           // number of diagnostics past the limit

  // Returns the diagnostics in the order of the text: by source, line and column.
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
