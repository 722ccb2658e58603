// Diagnostics: what is wrong with the text, collected by every stage, in the form that render() prints.
//
// Threads: one owner.
// Invariants: at most `limit` diagnostics are kept, so that a broken file of any size costs bounded memory; what comes
// after is only counted.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/source.h"

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

  // Adds "note: ..." at another place.
  Diagnostic& note(const Span& at, std::string text);
};

// A piece of the text inside a message: `text`.
std::string quoted(std::string_view text);

class Diagnostics {
 public:
  static constexpr std::size_t limit = 50;

  // The reference is valid as long as this object; past the limit it refers to one that is thrown away.
  Diagnostic& error(const Span& at, std::string message);
  Diagnostic& warning(const Span& at, std::string message);

  bool has_errors() const { return errors_ > 0; }
  std::size_t errors() const { return errors_; }    // counted past the limit
  std::size_t dropped() const { return dropped_; }  // diagnostics past the limit

  // In the order of the text: by source, line and column.
  std::vector<const Diagnostic*> sorted() const;

 private:
  Diagnostic& add(Severity severity, const Span& at, std::string message);

  std::deque<Diagnostic> kept_;
  Diagnostic overflow_;
  std::size_t errors_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace corelane::idl
