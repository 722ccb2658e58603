// The kinds of warnings, by the names that -W takes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corelane::idl {

enum class Warning : std::uint8_t { annotation, constant, directive, forward, keyword, raises, semicolon };

struct WarningText {
  std::string_view name;
  std::string_view about;  // one line of help
};

// In the order of the enumerators.
inline constexpr std::array warning_texts = {
    WarningText{"annotation", "annotations that are not known or stand where they have no effect"},
    WarningText{"constant", "literals of another type than their constant, where other compilers convert them"},
    WarningText{"directive", "#warning in the text"},
    WarningText{"forward", "interfaces and valuetypes that are declared and never defined"},
    WarningText{"keyword", "names that differ only in case from a keyword that older IDL did not have"},
    WarningText{"raises", "exceptions that are listed twice"},
    WarningText{"semicolon", "semicolons that end nothing or are missing where that does no harm"}};

constexpr std::string_view name_of(Warning kind) { return warning_texts[static_cast<std::size_t>(kind)].name; }

constexpr std::optional<Warning> warning_named(std::string_view name) {
  for (std::size_t i = 0; i < warning_texts.size(); ++i)
    if (warning_texts[i].name == name) return static_cast<Warning>(i);
  return std::nullopt;
}

}  // namespace corelane::idl
