#include "orb/giop/name_text.h"

namespace corelane::giop {
namespace {

constexpr std::size_t longest_excerpt = 60;

NameFault fault(std::string_view text, std::string_view why) {
  std::string said(text.substr(0, longest_excerpt));
  if (said.size() < text.size()) said += "...";
  return {"'" + said + "' is no name: " + std::string(why)};
}

// Reads one component. `rest` is then the text after it, with its slash. Returns "" on success, else what is wrong.
std::string_view eat_component(std::string_view& rest, NameComponent& out) {
  std::string* part = &out.id;
  std::size_t at = 0;
  bool dotted = false;
  for (; at < rest.size() && rest[at] != '/'; ++at) {
    char c = rest[at];
    if (c == '\\') {
      if (++at == rest.size()) return "a \\ at its end";
      c = rest[at];
      if (c != '/' && c != '.' && c != '\\') return "after a \\ only \\, / or . may stand";
    } else if (c == '.') {
      if (dotted) return "a component has one dot at most, before its kind; write \\. for a dot inside";
      dotted = true;
      part = &out.kind;
      continue;
    }
    *part += c;
  }
  if (at == 0) return "a component is empty; write . for one without id and kind";
  if (dotted && out.kind.empty() && !out.id.empty()) return "a component ends with a dot; leave out the dot of no kind";
  rest.remove_prefix(at);
  return {};
}

void append_escaped(std::string& text, std::string_view part) {
  for (const char c : part) {
    if (c == '/' || c == '.' || c == '\\') text += '\\';
    text += c;
  }
}

}  // namespace

Expected<Name, NameFault> parse_name(std::string_view text) {
  Name name;
  std::string_view rest = text;
  if (text.empty()) return fault(text, "it is empty");
  for (;;) {  // bound: the text; each turn consumes a part of it
    const std::string_view wrong = eat_component(rest, name.emplace_back());
    if (!wrong.empty()) return fault(text, wrong);
    if (rest.empty()) return name;
    rest.remove_prefix(1);
  }
}

std::string to_string(const NameComponent& component) {
  std::string text;
  append_escaped(text, component.id);
  if (!component.kind.empty() || component.id.empty()) text += '.';
  append_escaped(text, component.kind);
  return text;
}

std::string to_string(const Name& name) {
  std::string text;
  for (const NameComponent& component : name) {
    if (&component != name.data()) text += '/';
    text += to_string(component);
  }
  return text;
}

}  // namespace corelane::giop
