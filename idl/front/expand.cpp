#include "idl/front/expand.h"

#include <algorithm>
#include <cstddef>

namespace corelane::idl {
namespace {

// Finds where annotations are in a list of tokens.
class AnnotationFinder {
 public:
  explicit AnnotationFinder(const std::vector<Token>& tokens) : tokens_(tokens) {}

  // Returns the index after the annotation that begins at `at`, or `at` if none begins there.
  std::size_t behind(std::size_t at) const {
    if (!tokens_[at].is("@")) return at;
    if (tokens_[at + 1].text == "annotation") return behind_declaration(at);
    std::size_t next = at + 1;
    while (tokens_[next].is("::") || is_word(tokens_[next])) {
      const bool name_ends = is_word(tokens_[next]) && !tokens_[next + 1].is("::");
      ++next;
      if (name_ends) break;
    }
    return tokens_[next].is("(") ? behind_closing(next, "(", ")") : next;
  }

 private:
  static bool is_word(const Token& token) { return token.is(TokenKind::identifier) || token.is(TokenKind::keyword); }

  std::size_t behind_declaration(std::size_t at) const {
    while (!tokens_[at].is("{") && !tokens_[at].is(TokenKind::end)) ++at;
    at = behind_closing(at, "{", "}");
    return tokens_[at].is(";") ? at + 1 : at;
  }

  std::size_t behind_closing(std::size_t at, std::string_view open, std::string_view close) const {
    std::size_t depth = 0;
    for (; !tokens_[at].is(TokenKind::end); ++at) {
      if (tokens_[at].is(open)) ++depth;
      if (tokens_[at].is(close) && --depth == 0) return at + 1;
    }
    return at;
  }

  const std::vector<Token>& tokens_;
};

class Writer {
 public:
  explicit Writer(const SourceMap& sources) : sources_(sources) {
    stack_.push_back(SourceId::main);
    mark(1, "");
  }

  void add(const Token& token) {
    const Span& at = token.span;
    if (at.source != SourceId::none) {
      if (at.source != stack_.back()) change_file(at.source, at.line);
      go_to(at, token.is(TokenKind::pragma));
    }
    out_ += token.text;
    column_ += static_cast<std::uint32_t>(token.text.size());
    if (token.is(TokenKind::pragma)) new_line();
  }

  std::string take() {
    out_ += '\n';
    return std::move(out_);
  }

 private:
  void new_line() {
    out_ += '\n';
    ++line_;
    column_ = 1;
  }

  // Writes a line marker for the line that follows.
  void mark(std::uint32_t line, std::string_view flag) {
    if (column_ != 1) out_ += '\n';
    out_.append("# ").append(std::to_string(line)).append(" \"").append(sources_[stack_.back()].path).append("\"");
    out_.append(flag).append("\n");
    line_ = line;
    column_ = 1;
  }

  void change_file(SourceId to, std::uint32_t line) {
    const auto known = std::find(stack_.begin(), stack_.end(), to);
    if (known != stack_.end()) {
      stack_.erase(known + 1, stack_.end());
      return mark(line, " 2");
    }
    const auto includes = [&](SourceId from) {
      const auto& list = sources_[from].includes;
      return std::find(list.begin(), list.end(), to) != list.end();
    };
    while (stack_.size() > 1 && !includes(stack_.back())) {
      stack_.pop_back();
      mark(1, " 2");
    }
    stack_.push_back(to);
    mark(1, " 1");
    if (line > 1) mark(line, "");
  }

  // Moves to the token's place. A token of a macro has the place of its definition, which may come earlier; it is
  // written on the same line.
  void go_to(const Span& at, bool own_line) {
    constexpr std::uint32_t most_blank_lines = 8;
    if (at.line > line_ + most_blank_lines) mark(at.line, "");
    while (line_ < at.line) new_line();
    if (own_line && column_ != 1) new_line();
    if (column_ == 1 && at.line != line_) return;
    if (at.line == line_ && at.column >= column_) {
      out_.append(at.column - column_, ' ');
      column_ = at.column;
    } else if (column_ != 1) {
      out_ += ' ';
      ++column_;
    }
  }

  const SourceMap& sources_;
  std::string out_;
  std::vector<SourceId> stack_;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
};

}  // namespace

std::string expand(const std::vector<Token>& tokens, const SourceMap& sources, const ExpandOptions& options) {
  Writer writer(sources);
  const AnnotationFinder annotations(tokens);
  for (std::size_t i = 0; !tokens[i].is(TokenKind::end);) {
    const std::size_t next = options.strip_annotations ? annotations.behind(i) : i;
    if (next != i) {
      i = next;
      continue;
    }
    const SourceId source = tokens[i].span.source;
    const bool ours = source != SourceId::none && sources[source].embedded;
    if (!ours || !options.strip_annotations) writer.add(tokens[i]);
    ++i;
  }
  return writer.take();
}

}  // namespace corelane::idl
