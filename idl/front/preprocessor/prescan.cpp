#include "idl/front/preprocessor/prescan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "idl/front/preprocessor/prescan_words.h"

namespace corelane::idl {
namespace {

struct Fault {
  std::string_view code;
  std::string_view message;
};
constexpr std::array faults = {
    Fault{"corelane_fault_include", "#include expects \"file\" or <file>"},
    Fault{"corelane_fault_nesting", "the condition is nested too deeply"},
    Fault{"corelane_fault_directive", "this is no directive of the preprocessor"},
};
constexpr int deepest_parentheses = 200;
// In operators. The parser's limit is lower, but this one avoids preprocessing such a text.
constexpr int longest_expression = 10'000;
constexpr std::size_t deepest_conditions = 256;  // #if inside #if, in one file
// The library copies these texts repeatedly.
constexpr std::size_t longest_literal = 1u << 20;
constexpr std::size_t longest_pragma = 1u << 16;
constexpr std::size_t longest_line = 1u << 20;         // characters outside literals and comments
constexpr std::size_t most_lines = 1'000'000;          // per file; each line needs about a hundred bytes
constexpr std::size_t most_conditions = 20'000;        // #if, #elif, ... per file
constexpr std::size_t longest_parenthesis = 1u << 18;  // of such characters; a macro call can be this long
constexpr std::size_t most_arguments = 10'000;
constexpr int deepest_condition = 100;  // parentheses and prefix operators of one #if

constexpr std::array directives = {"define", "elif",         "else", "endif", "error",   "if",     "ifdef",
                                   "ifndef", "include_next", "line", "undef", "include", "pragma", "warning"};
constexpr std::array remarks = {"ident", "sccs"};  // of old compilers; ignored

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Returns whether the text after "//@" continues an annotation. Directives of other compilers do not, such as
// "//@copy-c #undef ERROR" and "//@top-level false".
bool reads_as_annotation(std::string_view text) {
  constexpr std::string_view continuations = "(@/";  // parameters, another annotation, a comment
  // bound: the text, since each turn consumes at least one byte
  while (!text.empty() && (starts_name(text.front()) || text.front() == ':'))
    text.remove_prefix(std::max<std::size_t>(leading_name(text).size(), 1));
  text = trimmed(text);
  return text.empty() || continuations.find(text.front()) != std::string_view::npos;
}

// Replaces a line break in a comment of a directive until the second pass. The first pass leaves no other one.
constexpr char directive_break = '\r';

// Prescan works on the joined lines: one pass over the text, then one over the directives.
class Prescan {
 public:
  Prescan(const SourceMap& sources, SourceId source, Diagnostics& diagnostics)
      : sources_(sources),
        source_(source),
        diagnostics_(diagnostics),
        joined_(join_lines(sources[source].text)),
        text_(std::move(joined_.text)) {}

  std::optional<Prescanned> run() {
    // bound: the text, since each turn consumes at least one byte
    while (at_ < text_.size() && !failed_) step();
    if (failed_) return std::nullopt;
    if (text_.empty() || text_.back() != '\n') text_ += '\n';
    std::optional<std::string> out = rewrite_directives();
    if (!out) return std::nullopt;
    return Prescanned{*std::move(out), std::move(joined_.splices)};
  }

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = text_[at_];
    if (c == '\n') return new_line();
    if (c == '\r') {
      text_[at_++] = ' ';
    } else if (c == '/' && peek(1) == '*') {
      block_comment();
    } else if (c == '/' && peek(1) == '/') {
      line_comment();
    } else if (is_control(c)) {
      give_up("stray control character in the text");
    } else {
      visible(c);
    }
  }

  static bool is_control(char c) { return (c >= 0 && c < ' ' && !is_blank(c)) || c == 0x7f; }

  void visible(char c) {
    if (++line_size_ > longest_line) return give_up("the line is too long");
    if (line_is_blank_ && c == '%' && peek(1) == ':') text_[at_] = '#', text_[at_ + 1] = ' ';  // a digraph
    if (line_is_blank_ && text_[at_] == '#') in_directive_ = true;
    if (!is_blank(c)) line_is_blank_ = false;
    hide_pragma_name();
    track_parentheses(c);
    track_arguments(c);
    track_operators(c);
    if (c == '"' || c == '\'') return literal(c);
    if (c == '<' && in_directive_ && is_include()) return header_name();
    ++at_;
  }

  void hide_pragma_name() {
    const std::string_view rest = std::string_view(text_).substr(at_);
    if (rest.starts_with(hidden_pragma_name)) text_[at_] = '$';  // stays what it is: no name
    if (!rest.starts_with(pragma_name) || leading_name(rest) != pragma_name) return;
    if (at_ == 0 || !is_in_word(text_[at_ - 1])) text_.replace(at_, pragma_name.size(), hidden_pragma_name);
  }

  // Counts nested parentheses. IDL has no ';' and no braces in parentheses. So these reset the count, which a text that
  // #if skips may have made wrong.
  void track_parentheses(char c) {
    if (c == ';' || c == '{' || c == '}' || (in_directive_ && c == '#')) parentheses_ = 0;
    if (c == ')' && parentheses_ > 0) --parentheses_;
    if (c != '(' || ++parentheses_ <= deepest_parentheses) return;
    give_up("parentheses are nested too deeply");
  }

  // Limits the parentheses of a macro call, since the library keeps their content until they close.
  void track_arguments(char c) {
    if (c == '(' && open_++ == 0) {
      open_at_ = at_;
      arguments_ = open_size_ = 0;
    }
    if (c == ')' && open_ > 0) --open_;
    if (open_ == 0) return;
    if (c == ',' && ++arguments_ == most_arguments) give_up("too many arguments");
    if (++open_size_ > longest_parenthesis) {
      error(open_at_, 1, "this parenthesis is still open after 256 KiB");
      failed_ = true;
    }
  }

  void track_operators(char c) {
    constexpr std::string_view ends = ";,{}#";
    constexpr std::string_view operators = "+-*/%|^&~";
    if (ends.find(c) != std::string_view::npos) operators_ = 0;
    if (operators.find(c) == std::string_view::npos || ++operators_ <= longest_expression) return;
    give_up("the expression is too long or nested too deeply");
  }

  void give_up(std::string message) {
    error(at_, 1, std::move(message));
    failed_ = true;
  }

  void new_line() {
    if (++lines_ > most_lines) return give_up("the text has too many lines");
    ++at_;
    line_start_ = at_;
    line_size_ = 0;
    line_is_blank_ = true;
    in_directive_ = false;
  }

  void block_comment() {
    const std::size_t begin = at_;
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string::npos) {
      error(begin, 2, "this comment is never closed");
      failed_ = true;
      return;
    }
    // A line break in a comment does not end the directive.
    for (std::size_t i = begin; i < end + 2; ++i) {
      if (text_[i] != '\n')
        text_[i] = ' ';
      else if (in_directive_)
        text_[i] = directive_break;
    }
    at_ = end + 2;
  }

  void line_comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const char next = peek(3);
    if (peek(2) == '@' && (starts_name(next) || next == ':')) {
      const bool is_annotation = reads_as_annotation(std::string_view(text_).substr(at_ + 3, end - at_ - 3));
      if (is_annotation && line_is_blank_) {
        text_[at_] = text_[at_ + 1] = ' ';
        at_ += 2;
        return;
      }
      diagnostics_.warning(
          Warning::annotation, place(at_, 3),
          is_annotation ? "an annotation comment stands on a line of its own, before what it annotates; this one "
                          "is a plain comment"
                        : "an annotation comment holds annotations alone; this one is a plain comment");
    }
    warn_of_splices(end);
    for (; at_ < end; ++at_) text_[at_] = ' ';
  }

  // Warns of each backslash that joins a line to the comment.
  void warn_of_splices(std::size_t end) {
    const LinePlace begin = joined_place(at_), last = joined_place(end);
    const std::uint32_t count = joined_.splices.count(begin.line, begin.column, last.column);
    const std::uint32_t first_line = joined_.splices.in_source(begin).line;
    for (std::uint32_t line = first_line; line < first_line + count; ++line) {
      const auto column = static_cast<std::uint32_t>(sources_[source_].line(line).size());
      diagnostics_.warning(Warning::comment, sources_.span(source_, line, column, 1),
                           "this backslash makes the next line part of the comment");
    }
  }

  // Skips a literal, so that comment marks in it have no effect. A literal that does not end on its line is left to the
  // lexer, which knows whether #if skips it.
  void literal(char quote) {
    std::size_t i = at_ + 1;
    while (i < text_.size() && text_[i] != quote && text_[i] != '\n')
      i += text_[i] == '\\' && i + 1 < text_.size() ? 2 : 1;
    const bool closed = i < text_.size() && text_[i] == quote;
    if (i - at_ > longest_literal) return give_up("this literal is too long");
    if (closed && breaks_line(at_, i)) return give_up("stray control character in this literal");
    if (closed && at_ > 0 && text_[at_ - 1] == 'L') hide_universal_names(at_ + 1, i);
    at_ = closed ? i + 1 : at_ + 1;
  }

  // Returns whether the text has a carriage return, which the library would treat as the end of a line.
  bool breaks_line(std::size_t begin, std::size_t end) const {
    return std::string_view(text_).substr(begin, end - begin).find('\r') != std::string_view::npos;
  }

  // Hides the backslash of \u0041. C forbids this escape for such characters; IDL does not.
  void hide_universal_names(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i + 1 < end; ++i) {
      if (text_[i] == hidden_backslash) {
        error(i, 1, "a byte of no UTF-8 character in a wide literal");
        failed_ = true;
      }
      if (text_[i] != '\\') continue;
      if (text_[i + 1] == 'u') text_[i] = hidden_backslash;
      ++i;
    }
  }

  bool is_include() const {
    std::string_view line = trimmed(std::string_view(text_).substr(line_start_, at_ - line_start_));
    line.remove_prefix(1);
    return leading_name(trimmed(line)).starts_with("include");
  }

  void header_name() {
    for (; at_ < text_.size() && text_[at_] != '>' && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\r') text_[at_] = ' ';  // would end the line
  }

  LinePlace joined_place(std::size_t offset) const {
    const auto next = std::upper_bound(joined_.lines.begin(), joined_.lines.end(), offset);
    const auto line = static_cast<std::uint32_t>(next - joined_.lines.begin());
    return {line, static_cast<std::uint32_t>(offset - joined_.lines[line - 1] + 1)};
  }
  Span place(std::size_t offset, std::size_t length) const {
    const LinePlace at = joined_.splices.in_source(joined_place(offset));
    return sources_.span(source_, at.line, at.column, length);
  }
  void error(std::size_t offset, std::size_t length, std::string message) {
    diagnostics_.error(place(offset, length), std::move(message));
  }

  // Second pass: replaces whole directives.
  std::optional<std::string> rewrite_directives() {
    std::string out;
    out.reserve(text_.size() + 64);
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = text_.find('\n', begin) + 1;
      const std::string_view line = trimmed(std::string_view(text_).substr(begin, end - begin - 1));
      if (!line.starts_with('#')) {
        out.append(text_, begin, end - begin);
        begin = end;
        continue;
      }
      const std::string_view directive = std::string_view(text_).substr(begin, end - begin);
      if (const auto fault = track_conditions(directive, begin)) {
        error(begin + directive.find('#'), 1, std::string(*fault));
        return std::nullopt;
      }
      const std::size_t out_begin = out.size();
      if (directive.size() > longest_pragma && directive.find("pragma") < directive.find('\n')) {
        error(begin + directive.find('#'), 1, "this #pragma is too long");
        return std::nullopt;
      }
      append_directive(out, directive);
      // The lines that are left out become empty ones.
      const auto lines = std::count_if(directive.begin(), directive.end(), ends_line);
      const auto written = std::count(out.begin() + static_cast<std::ptrdiff_t>(out_begin), out.end(), '\n');
      out.append(static_cast<std::size_t>(lines - written), '\n');
      begin = end;
    }
    close_conditions(out);
    return out;
  }

  void close_conditions(std::string& out) {
    for (const std::size_t open : conditions_) {
      diagnostics_.warning(Warning::lenient, place(open, 1), "this condition lacks its #endif");
      out += "#endif\n";
    }
  }

  // Tracks the nesting of conditions. Also counts text that an #if skips, as the preprocessor does. Returns the fault,
  // if there is one. An #elif without an #if must not reach the library, since it may also be malformed.
  std::optional<std::string_view> track_conditions(std::string_view directive, std::size_t offset) {
    const std::string_view name = leading_name(trimmed(trimmed(directive).substr(1)));
    const bool opens = name == "if" || name == "ifdef" || name == "ifndef";
    if (opens) conditions_.push_back(offset + directive.find('#'));
    if (name == "elif" && conditions_.empty()) return "this #elif has no #if";
    if (name == "endif" && !conditions_.empty()) conditions_.pop_back();
    if ((opens || name == "elif") && ++conditions_in_all_ > most_conditions) return "the file has too many conditions";
    if (conditions_.size() > deepest_conditions) return "conditions are nested too deeply";
    return std::nullopt;
  }

  static bool ends_line(char c) { return c == '\n' || c == directive_break; }

  static bool is_condition(std::string_view directive) {
    const std::string_view name = leading_name(trimmed(trimmed(directive).substr(1)));
    return name == "if" || name == "elif";
  }

  static void append_directive(std::string& out, std::string_view directive) {
    if (const std::string_view name = bare_include(directive); !name.empty()) {
      ((out += "#include \"") += name) += "\"\n";
      return;
    }
    const std::string in_c = is_condition(directive) ? condition_in_c(std::string(directive)) : std::string(directive);
    const std::optional<std::string_view> fault = fault_of(in_c);
    if (!fault) return append_with_breaks(out, without_remark(in_c));
    if (!fault->empty()) (out += "#error ") += *fault;
    out += '\n';
  }

  // Drops the words after #else and #endif, which are remarks in old files. The library would treat them as text.
  static std::string_view without_remark(std::string_view directive) {
    const std::size_t name = std::min(directive.find_first_not_of(" \t\r", directive.find('#') + 1), directive.size());
    const std::string_view word = leading_name(directive.substr(name));
    return word == "else" || word == "endif" ? directive.substr(0, name + word.size()) : directive;
  }

  // Appends a directive. A line break in it becomes one that does not end it.
  static void append_with_breaks(std::string& out, std::string_view directive) {
    for (const char c : directive)
      if (c == directive_break)
        out += "\\\n";
      else
        out += c;
    if (out.back() != '\n') out += '\n';
  }

  // Returns nothing to keep the directive, "" to drop it, or the code of a fault.
  static std::optional<std::string_view> fault_of(std::string_view directive) {
    std::string_view body = trimmed(directive.substr(0, directive.size() - 1));
    body = trimmed(body.substr(1));
    if (!body.empty() && std::isdigit(static_cast<unsigned char>(body.front())) != 0) return "";  // a line marker
    const std::string_view name = leading_name(body);
    const std::string_view argument = trimmed(body.substr(name.size()));
    if (name == "pragma" && argument.empty()) return "";
    const auto is_name = [&](std::string_view one) { return one == name; };
    if (std::any_of(remarks.begin(), remarks.end(), is_name)) return "";
    if (!body.empty() && std::none_of(directives.begin(), directives.end(), is_name)) return faults[2].code;
    if (name == "include" || name == "include_next") return include_fault(argument);
    if (name == "if" || name == "elif") return condition_fault(argument);
    return std::nullopt;
  }

  static std::optional<std::string_view> include_fault(std::string_view argument) {
    if (!argument.empty() && starts_name(argument.front())) return std::nullopt;
    const char close = argument.starts_with('<') ? '>' : '"';
    const bool opens = argument.starts_with('<') || argument.starts_with('"');
    if (opens && argument.find(close, 1) != std::string_view::npos &&
        !trimmed(argument.substr(1, argument.find(close, 1) - 1)).empty())
      return std::nullopt;
    return faults[0].code;
  }

  static std::optional<std::string_view> condition_fault(std::string_view argument) {
    constexpr std::string_view nesting = "(!~-+?";
    const auto depth = std::count_if(argument.begin(), argument.end(),
                                     [&](char c) { return nesting.find(c) != std::string_view::npos; });
    if (depth <= deepest_condition) return std::nullopt;
    return faults[1].code;
  }

  const SourceMap& sources_;
  const SourceId source_;
  Diagnostics& diagnostics_;
  JoinedText joined_;  // without its text
  std::string text_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::size_t line_size_ = 0;  // visible characters
  std::size_t lines_ = 0;
  int parentheses_ = 0;
  int operators_ = 0;          // since an expression could have begun
  std::size_t open_ = 0;       // open parentheses, with any content
  std::size_t open_at_ = 0;    // place of the outermost one
  std::size_t open_size_ = 0;  // visible characters in it
  std::size_t arguments_ = 0;  // commas in it
  std::size_t conditions_in_all_ = 0;
  std::vector<std::size_t> conditions_;  // places of the open ones, in the second pass
  bool line_is_blank_ = true;
  bool in_directive_ = false;
  bool failed_ = false;
};

}  // namespace

std::optional<Prescanned> prescan(const SourceMap& sources, SourceId source, Diagnostics& diagnostics) {
  return Prescan(sources, source, diagnostics).run();
}

std::string_view bare_include(std::string_view line) {
  constexpr std::string_view word = "include";
  line = trimmed(line.substr(0, line.find('\n')));
  if (!line.starts_with('#')) return {};
  line = trimmed(line.substr(1));
  if (leading_name(line) != word) return {};
  const std::string_view name = trimmed(line.substr(word.size()));
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/' || c == '-';
  };
  return name.find('.') != std::string_view::npos && std::all_of(name.begin(), name.end(), is_part) ? name : "";
}

std::optional<std::string_view> prescan_fault(std::string_view error_text) {
  for (const Fault& fault : faults)
    if (error_text.find(fault.code) != std::string_view::npos) return fault.message;
  return std::nullopt;
}

}  // namespace corelane::idl
