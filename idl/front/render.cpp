#include "idl/front/render.h"

#include <algorithm>
#include <string_view>

namespace corelane::idl {
namespace {

constexpr std::size_t widest_excerpt = 240;  // a longer line is shown only around the column

struct Style {
  std::string_view bold = "\033[1m";
  std::string_view error = "\033[1;31m";
  std::string_view warning = "\033[1;35m";
  std::string_view note = "\033[1;36m";
  std::string_view caret = "\033[1;32m";
  std::string_view reset = "\033[0m";
};
constexpr Style plain{"", "", "", "", "", ""};

// Returns the size of the character at the beginning if a terminal might act on it: control characters but the tab
// (also those of 8 bits), ends of lines, and characters that change the direction of text. Otherwise returns 0.
std::size_t control_size(std::string_view text) {
  const auto byte = [text](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : static_cast<unsigned char>(0);
  };
  if ((byte(0) < 0x20 && byte(0) != '\t') || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;
  if (byte(0) != 0xe2) return 0;
  const bool marks = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae));
  return marks || (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9) ? 3 : 0;
}

// Returns the text with question marks for what controls a terminal.
std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {  // bound: the text
    const std::size_t control = control_size(text);
    if (control > 0)
      result += '?';
    else
      result += text.front();
    text.remove_prefix(std::max<std::size_t>(control, 1));
  }
  return result;
}

class Renderer {
 public:
  Renderer(const SourceMap& sources, const Style& style) : sources_(sources), style_(style) {}

  void add(const Diagnostic& diagnostic) {
    const bool error = diagnostic.severity == Severity::error;
    std::string text = diagnostic.message;
    if (diagnostic.kind) {
      text += error ? " [-Werror=" : " [-W";
      text.append(name_of(*diagnostic.kind)).append("]");
    }
    message(diagnostic.span, error ? style_.error : style_.warning, error ? "error" : "warning", text);
    for (const Diagnostic::Note& note : diagnostic.notes) message(note.span, style_.note, "note", note.message);
  }
  void append(std::string_view text) { out_ += text; }

  std::string take() { return std::move(out_); }

 private:
  bool has_place(const Span& at) const { return at.source != SourceId::none && at.line != 0; }

  void message(const Span& at, std::string_view colour, std::string_view severity, const std::string& text) {
    out_ += style_.bold;
    if (has_place(at)) {
      out_ +=
          printable(sources_[at.source].path) + ':' + std::to_string(at.line) + ':' + std::to_string(at.column) + ": ";
    } else {
      out_ += "corelane-idl: ";
    }
    ((((out_ += style_.reset) += colour) += severity) += ": ") += style_.reset;
    (((out_ += style_.bold) += printable(text)) += style_.reset) += '\n';
    if (has_place(at)) excerpt(at);
  }

  void excerpt(const Span& at) {
    std::string_view line = sources_[at.source].line(at.line);
    std::size_t before = std::min<std::size_t>(at.column - 1, line.size());
    if (line.size() > widest_excerpt) {
      const std::size_t cut = before > widest_excerpt / 2 ? before - widest_excerpt / 2 : 0;
      line = line.substr(cut, widest_excerpt);
      before -= cut;
    }
    ((out_ += "  ") += printable(line)) += "\n  ";
    // Tabs are kept, so that the caret is under its byte. Continuation bytes of UTF-8 take no column.
    for (const char c : printable(line.substr(0, before)))
      if (!is_continuation(c)) out_ += c == '\t' ? '\t' : ' ';
    (out_ += style_.caret) += '^';
    const std::string_view rest = line.substr(std::min(before + 1, line.size()), at.length > 0 ? at.length - 1 : 0);
    for (const char c : printable(rest))
      if (!is_continuation(c)) out_ += '~';
    (out_ += style_.reset) += '\n';
  }

  static bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

  const SourceMap& sources_;
  const Style style_;
  std::string out_;
};

}  // namespace

std::string render(const Diagnostics& diagnostics, const SourceMap& sources, const RenderOptions& options) {
  Renderer renderer(sources, options.colour ? Style{} : plain);
  for (const Diagnostic* diagnostic : diagnostics.sorted()) renderer.add(*diagnostic);
  if (diagnostics.dropped() > 0)
    renderer.append("... and " + std::to_string(diagnostics.dropped()) + " more that are not shown\n");
  return renderer.take();
}

}  // namespace corelane::idl
