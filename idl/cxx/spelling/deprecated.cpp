#include "idl/cxx/spelling/deprecated.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

#include "idl/cxx/spelling/literals.h"

namespace corelane::idl::cxx {
namespace {

bool is_deprecated(const Annotations& annotations) { return find(annotations, "deprecated") != nullptr; }

template <typename Declaration>
bool has_deprecated(const std::vector<Declaration>& all) {
  return std::ranges::any_of(all, [](const Declaration& one) { return is_deprecated(one.annotations); });
}

// These return whether a part of the definition is deprecated.
template <typename Body>
bool has_deprecated_part(const Body&) {
  return false;
}
bool has_deprecated_part(const Structure& body) { return has_deprecated(body.members); }
bool has_deprecated_part(const Exception& body) { return has_deprecated(body.members); }
bool has_deprecated_part(const Union& body) {
  return std::ranges::any_of(body.branches,
                             [](const UnionBranch& one) { return is_deprecated(one.member.annotations); });
}
bool has_deprecated_part(const Interface& body) {
  return has_deprecated(body.operations) || has_deprecated(body.attributes);
}
bool has_deprecated_part(const Valuetype& body) {
  return has_deprecated(body.operations) || has_deprecated(body.attributes) ||
         std::ranges::any_of(body.state, [](const StateMember& one) { return is_deprecated(one.member.annotations); });
}

bool has_deprecated(const Model& model) {
  return std::ranges::any_of(model.definitions, [](const Definition& definition) {
    return is_deprecated(definition.annotations) ||
           std::visit([](const auto& body) { return has_deprecated_part(body); }, definition.body);
  });
}

// Returns the length of the UTF-8 character at the beginning of the text; 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  const std::size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_no_character = first > 0xF4 || (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  if (is_overlong || is_no_character) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (byte(i) >> 6 != 0b10) return 0;
  return length;
}

// Returns the text as a compiler's message can have it. Control characters become blanks. Bytes that are not UTF-8
// become question marks, since clang warns about them.
std::string as_message(std::string text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(std::string_view(text).substr(i));
    if (length == 0) text[i] = '?';
    if (static_cast<unsigned char>(text[i]) < ' ' || text[i] == '\x7f') text[i] = ' ';
    i += std::max<std::size_t>(length, 1);
  }
  return text;
}

}  // namespace

std::string deprecated_attribute(const Annotations& annotations) {
  const Annotation* const annotation = find(annotations, "deprecated");
  if (annotation == nullptr) return "";
  const Value* const value = find(*annotation, "value");  // may be absent, or no text, if the IDL declares its own
  const auto* const text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  if (text == nullptr || text->empty()) return "[[deprecated]]";
  return "[[deprecated(" + message_literal(as_message(*text)) + ")]]";
}

std::string attributed(const Definition& definition, const std::string& name) {
  const std::string attribute = deprecated_attribute(definition.annotations);
  return attribute.empty() ? name : attribute + " " + name;
}

void write_attribute(const std::string& attribute, Text& out) {
  if (!attribute.empty()) out.line("$0", {attribute});
}

std::string allow_deprecated(const Model& model, const std::string& text) {
  if (!has_deprecated(model)) return text;
  const std::size_t head = text.find('\n') + 1;  // the comment that says where the file comes from
  return text.substr(0, head) +
         "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n" +
         text.substr(head) + "#pragma GCC diagnostic pop\n";
}

}  // namespace corelane::idl::cxx
