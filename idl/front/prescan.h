// Prescan: makes a text safe for the preprocessor. Comments become blanks of the same size, annotation comments ("//@")
// plain annotations, carriage returns blanks, line markers (# 1 "file") empty lines; lines that the preprocessor
// library cannot take (bare #pragma, #include <>, conditions nested without end) become #error lines that stand for a
// fault of ours, so that they count only where no #if skips them.
//
// Threads: any; pure functions.
// Invariant: every byte that is kept stays on its line and in its column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"

namespace corelane::idl {

// Stands for the backslash of a \u in a wide literal, from which the preprocessor library shies; refused in the text
// itself, where it is no UTF-8.
inline constexpr char hidden_backslash = '\xFF';

// The text of `source` for the preprocessor; nothing when an error (reported) leaves no text to go on with.
std::optional<std::string> prescan(const SourceMap& sources, SourceId source, Diagnostics& diagnostics);

// The file that an #include without quotes names, as in "#include other.idl", which prescan() puts into quotes; empty
// for any other line.
std::string_view bare_include(std::string_view line);

// The message that a replaced directive stands for; nothing when the text of the #error is the user's own.
std::optional<std::string_view> prescan_fault(std::string_view error_text);

}  // namespace corelane::idl
