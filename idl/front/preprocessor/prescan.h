// Prescan makes a text safe for the preprocessor:
// - Lines that a backslash joins become one line, with empty lines after it.
// - Comments become blanks of the same size. Annotation comments ("//@") become annotations.
// - Carriage returns become blanks, and line markers (# 1 "file") become empty lines.
// - Directives that the preprocessor library cannot handle become #error lines with a fault code, such as "#include <>"
//   and a condition that is nested too deeply. So they count only if no #if skips them.
//
// Threads: any; pure functions.
// Invariant: every byte that is kept stays on its line and in its column. Splices says where a joined line comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/front/preprocessor/splices.h"

namespace corelane::idl {

// Replaces the backslash of \u in a wide literal, which the preprocessor library would reject. The byte is refused in
// the text itself, where it is not valid UTF-8.
inline constexpr char hidden_backslash = '\xFF';

// The preprocessor library takes _Pragma for an operator of C99. In IDL it is the escaped name Pragma. So the library
// gets another name, which IDL cannot have.
inline constexpr std::string_view pragma_name = "_Pragma";
inline constexpr std::string_view hidden_pragma_name = "_Pragm$";

struct Prescanned {
  std::string text;
  Splices splices;
};

// Returns the text of `source` for the preprocessor. Returns nothing if an error (reported) makes it impossible to
// continue.
std::optional<Prescanned> prescan(const SourceMap& sources, SourceId source, Diagnostics& diagnostics);

// Returns the file of an #include without quotes, such as "#include other.idl"; "" for any other line. prescan() adds
// the quotes.
std::string_view bare_include(std::string_view line);

// Returns the message of a directive that was replaced; nothing if the #error is the user's own.
std::optional<std::string_view> prescan_fault(std::string_view error_text);

}  // namespace corelane::idl
