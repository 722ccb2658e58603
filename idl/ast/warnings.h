// The kinds of warnings. -W uses their names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corelane::idl {

enum class Warning : std::uint8_t {
  annotation,
  anonymous,
  comment,
  constant,
  directive,
  forward,
  keyword,
  lenient,
  raises,
  reuse,
  semicolon
};

// How a warning is treated.
enum class Policy : std::uint8_t { warn, ignore, error };

struct WarningText {
  std::string_view name;
  std::string_view about;  // one line of help
  Policy usual = Policy::warn;
};

// In the order of the enumerators.
inline constexpr std::array warning_texts = {
    WarningText{"annotation", "annotations that are not known or stand where they have no effect"},
    WarningText{"anonymous", "types without a name in members, parameters and constants, which IDL 3 discouraged (off)",
                Policy::ignore},
    WarningText{"comment", "comments that a backslash at the end of their line goes on with in the next one"},
    WarningText{"constant", "literals of another type than their constant, where other compilers convert them"},
    WarningText{"directive", "#warning in the text"},
    WarningText{"forward", "interfaces and valuetypes that are declared and never defined"},
    WarningText{"keyword", "names that differ only in case from a keyword that older IDL did not have"},
    WarningText{"lenient",
                "what breaks the standard and some compilers let pass, with a meaning that is plain (an error)",
                Policy::error},
    WarningText{"raises", "exceptions that are listed twice"},
    WarningText{"reuse",
                "parameters, operations and attributes with the name of a type that is used beside them (an error)",
                Policy::error},
    WarningText{"semicolon", "semicolons that end nothing or are missing where that does no harm"}};

constexpr std::string_view name_of(Warning kind) { return warning_texts[static_cast<std::size_t>(kind)].name; }

constexpr std::array<Policy, warning_texts.size()> usual_policies() {
  std::array<Policy, warning_texts.size()> result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = warning_texts[i].usual;
  return result;
}

constexpr std::optional<Warning> warning_named(std::string_view name) {
  for (std::size_t i = 0; i < warning_texts.size(); ++i)
    if (warning_texts[i].name == name) return static_cast<Warning>(i);
  return std::nullopt;
}

}  // namespace corelane::idl
