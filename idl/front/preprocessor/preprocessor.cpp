// The only file that uses Boost.Wave. conditions.cpp compiles a part of the library again.
#include "idl/front/preprocessor/preprocessor.h"

#include <algorithm>
// The library's binary has a separate pool of tokens. Tokens that its own lexer took from there would never be
// returned.
#define BOOST_WAVE_SEPARATE_LEXER_INSTANTIATION 0
#include <boost/wave.hpp>
#include <boost/wave/cpplexer/cpp_lex_iterator.hpp>
#include <boost/wave/cpplexer/re2clex/cpp_re2c_lexer.hpp>
#include <charconv>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "idl/front/preprocessor/embedded.h"
#include "idl/front/preprocessor/prescan.h"

namespace corelane::idl {
namespace {

namespace wave = boost::wave;

using WaveToken = wave::cpplexer::lex_token<>;
using WaveLexer = wave::cpplexer::lex_iterator<WaveToken>;

// Thrown by the library's callbacks to end the run. The reason is already reported.
struct Stop : std::exception {};

// Returns a text of the library with the names that the user wrote.
std::string shown(std::string text) {
  for (std::size_t at = text.find(hidden_pragma_name); at != text.npos; at = text.find(hidden_pragma_name, at))
    text.replace(at, pragma_name.size(), pragma_name);
  return text;
}

// Returns the file's name for the library: "/<number of the source>". It is an absolute path, so that the library never
// asks the file system.
std::string wave_name(SourceId id) { return '/' + std::to_string(static_cast<std::uint32_t>(id)); }

SourceId source_of(std::string_view wave_name) {
  std::uint32_t number = 0;
  if (!wave_name.starts_with('/')) return SourceId::none;
  const char* const last = wave_name.data() + wave_name.size();
  const auto [end, fault] = std::from_chars(wave_name.data() + 1, last, number);
  return fault == std::errc{} && end == last ? static_cast<SourceId>(number) : SourceId::none;
}

// The data of one run, which the library's callbacks need.
class Run {
 public:
  Run(SourceMap& sources, SourceLoader& loader, const PreprocessorLimits& limits, Diagnostics& diagnostics)
      : sources_(sources), loader_(loader), limits_(limits), diagnostics_(diagnostics) {}

  // Returns the id of a located file. Reads and prescans it the first time. Returns none after an error.
  SourceId open(const Located& located, const Span& at, std::optional<std::string_view> embedded = std::nullopt) {
    SourceId id = sources_.find(located.path);
    if (id != SourceId::none) return id;
    std::variant<std::string, LoadFailure> text = std::string(embedded.value_or(""));
    if (!embedded) text = loader_.read(located, limits_.bytes);
    if (const auto* failure = std::get_if<LoadFailure>(&text)) {
      diagnostics_.error(at, "cannot read " + quoted(located.path) + ": " + failure->reason);
      return SourceId::none;
    }
    id = sources_.add(located.path, located.include_path, std::get<std::string>(std::move(text)), embedded.has_value());
    if (std::optional<Prescanned> safe = prescan(sources_, id, diagnostics_)) {
      texts_[id] = *std::move(safe);
      return id;
    }
    throw Stop();
  }

  // Returns the file that an #include names; none (reported) if there is none.
  SourceId include(const std::string& name, bool angled, SourceId includer, const Span& at) {
    const SourceId id = find(name, angled, includer, at);
    if (id != SourceId::none) note_inclusion(id, includer, at);
    return id;
  }

  const std::string& text(SourceId id) const { return texts_.at(id).text; }

  // Returns the place in the source of a place that the library knows.
  LinePlace in_source(SourceId id, const LinePlace& place) const {
    const auto known = texts_.find(id);
    return known == texts_.end() ? place : known->second.splices.in_source(place);
  }
  Span span(SourceId id, const LinePlace& place, std::size_t length) const {
    const LinePlace at = in_source(id, place);
    return sources_.span(id, at.line, at.column, length);
  }

  // enter() and leave() record that an included file begins and ends.
  void enter(SourceId id, const Span& at) {
    open_files_.push_back(id);
    if (open_files_.size() > limits_.include_depth) stop(at, "#include is nested too deeply");
  }
  void leave() { open_files_.pop_back(); }
  SourceId current_file() const { return open_files_.empty() ? SourceId::main : open_files_.back(); }

  void expanding(const Span& at) {
    if (++expansions_ > limits_.expansions) stop(at, "too many macro expansions");
    if (++expansion_depth_ > limits_.expansion_depth) stop(at, "macros are nested too deeply");
  }
  void expanded(const Span& at, std::size_t tokens, std::size_t nesting_tokens) {
    expanded_tokens_ += tokens;
    if (expanded_tokens_ > limits_.expanded_tokens) stop(at, "macros expand to too much text");
    if (!in_condition_) return;
    condition_nesting_ += nesting_tokens;
    if (condition_nesting_ > 100) stop(at, "the condition is nested too deeply");
  }
  void rescanned() {
    if (expansion_depth_ > 0) --expansion_depth_;
  }
  void condition(bool starts) {
    in_condition_ = starts;
    condition_nesting_ = 0;
  }

  SourceMap& sources() { return sources_; }
  Diagnostics& diagnostics() { return diagnostics_; }

  [[noreturn]] void stop(const Span& at, std::string message) {
    diagnostics_.error(at, std::move(message));
    throw Stop();
  }

 private:
  // Finds the file of an #include. A user's file comes before an embedded one of the same name, except in the folder
  // corelane/.
  SourceId find(const std::string& name, bool angled, SourceId includer, const Span& at) {
    const auto text = embedded_source(name);
    const auto own = [&] { return open({.path = "<corelane>/" + name, .include_path = name}, at, text); };
    if (text && name.starts_with("corelane/")) return own();
    const auto found = loader_.locate_include(name, angled, sources_[includer].path);
    if (const auto* located = std::get_if<Located>(&found)) return open(*located, at);
    if (text) return own();
    diagnostics_.error(at, "cannot include " + quoted(name) + ": " + std::get<LoadFailure>(found).reason);
    return SourceId::none;
  }

  void note_inclusion(SourceId id, SourceId includer, const Span& at) {
    auto& list = sources_[includer].includes;
    if (std::find(list.begin(), list.end(), id) == list.end()) {
      list.push_back(id);
      sources_[includer].include_lines.push_back(at.line);
    }
    bytes_ += text(id).size();
    if (++inclusions_ > limits_.inclusions) stop(at, "too many files are included");
    if (bytes_ > limits_.bytes) stop(at, "the included files are too large together");
  }

  SourceMap& sources_;
  SourceLoader& loader_;
  const PreprocessorLimits limits_;
  Diagnostics& diagnostics_;
  std::map<SourceId, Prescanned> texts_;
  std::size_t inclusions_ = 0;
  std::vector<SourceId> open_files_;  // each includes the next
  std::size_t bytes_ = 0;
  std::size_t expansions_ = 0;
  std::size_t expansion_depth_ = 0;
  std::size_t expanded_tokens_ = 0;
  std::size_t condition_nesting_ = 0;
  bool in_condition_ = false;
};

template <typename Position>
LinePlace place_at(const Position& position) {
  return {static_cast<std::uint32_t>(position.get_line()), static_cast<std::uint32_t>(position.get_column())};
}

template <typename Position>
Span span_at(Run& run, const Position& position, std::size_t length = 1) {
  return run.span(source_of(position.get_file().c_str()), place_at(position), length);
}

template <typename Token>
Span span_of(Run& run, const Token& token) {
  return span_at(run, token.get_position(), token.get_value().size());
}

// Gives the library the text of an included file. It comes from the run, never from the file system.
struct InputPolicy {
  template <typename IterationContext>
  class inner {  // NOLINT: the library's name
   public:
    template <typename Position>
    static void init_iterators(IterationContext& context, const Position&, wave::language_support language) {
      const Run& run = *context.ctx.get_hooks().run;
      context.instring = run.text(source_of(context.filename.c_str()));
      context.first = typename IterationContext::iterator_type(context.instring.begin(), context.instring.end(),
                                                               Position(context.filename), language);
      context.last = typename IterationContext::iterator_type();
    }
    std::string instring;
  };
};

struct Hooks : wave::context_policies::default_preprocessing_hooks {
  Run* run = nullptr;
  Span include_at;  // the latest #include directive

  template <typename Context>
  bool locate_include_file(Context& context, std::string& name, bool angled, const char*, std::string& directory,
                           std::string& native) {
    const auto& position = context.get_main_pos();
    const SourceId includer = source_of(position.get_file().c_str());
    Span at = span_at(*run, position);
    if (includer != SourceId::none) {
      const std::uint32_t number = place_at(position).line;
      const std::string line = joined_line(run->sources()[includer], number);
      at = run->span(includer, {number, static_cast<std::uint32_t>(line.find('#') + 1)}, line.size());
      if (bare_include(line) == name)
        run->diagnostics().warning(Warning::lenient, at, "#include expects \"file\" or <file>");
    }
    const SourceId id = run->include(name, angled, includer, at);
    if (id == SourceId::none) throw Stop();
    directory = "/";
    native = wave_name(id);
    name = native;
    include_at = at;
    return true;
  }
  // The library does not call this for a file whose include guard is already defined.
  template <typename Context>
  void opened_include_file(const Context&, const std::string&, const std::string& name, bool) {
    run->enter(source_of(name), include_at);
  }
  template <typename Context>
  void returning_from_include_file(const Context&) {
    run->leave();
  }

  template <typename Context, typename Token>
  bool found_directive(const Context&, const Token& directive) {
    const auto id = wave::token_id(directive);
    run->condition(id == wave::T_PP_IF || id == wave::T_PP_ELIF);
    return id == wave::T_PP_LINE;  // skips #line
  }
  template <typename Context, typename Token, typename Tokens>
  bool evaluated_conditional_expression(const Context&, const Token&, const Tokens&, bool) {
    run->condition(false);
    return false;
  }

  template <typename Context, typename Token, typename Tokens, typename Iterator>
  bool expanding_function_like_macro(const Context&, const Token&, const std::vector<Token>&, const Tokens&,
                                     const Token& call, const std::vector<Tokens>&, const Iterator&, const Iterator&) {
    run->expanding(span_of(*run, call));
    return false;
  }
  template <typename Context, typename Token, typename Tokens>
  bool expanding_object_like_macro(const Context&, const Token&, const Tokens&, const Token& call) {
    run->expanding(span_of(*run, call));
    return false;
  }
  template <typename Context, typename Tokens>
  void expanded_macro(const Context& context, const Tokens& result) {
    std::size_t nesting = 0;
    for (const auto& token : result) {
      const std::string_view text(token.get_value().c_str());
      if (text.find_first_of("(!~-+?") == 0) ++nesting;
    }
    run->expanded(span_at(*run, context.get_main_pos()), result.size(), nesting);
  }
  template <typename Context, typename Tokens>
  void rescanned_macro(const Context&, const Tokens&) {
    run->rescanned();
  }

  template <typename Context, typename Tokens>
  bool found_error_directive(const Context& context, const Tokens& message) {
    const Span at = span_at(*run, context.get_main_pos());
    const std::string text = message_text(message);
    if (const auto fault = prescan_fault(text)) run->stop(at, std::string(*fault));
    run->diagnostics().error(at, text.empty() ? "#error" : "#error: " + text);
    return true;
  }
  template <typename Context, typename Tokens>
  bool found_warning_directive(const Context& context, const Tokens& message) {
    run->diagnostics().warning(Warning::directive, span_at(*run, context.get_main_pos()),
                               "#warning: " + message_text(message));
    return true;
  }

 private:
  template <typename Tokens>
  static std::string message_text(const Tokens& tokens) {
    std::string text;
    for (const auto& token : tokens) text += token.get_value().c_str();
    const std::size_t begin = text.find_first_not_of(" \t\n");
    const std::size_t end = text.find_last_not_of(" \t\n");
    return begin == std::string::npos ? std::string() : shown(text.substr(begin, end - begin + 1));
  }
};

using Context = wave::context<std::string::iterator, WaveLexer, InputPolicy, Hooks>;

wave::language_support language() {
  const auto base = static_cast<unsigned>(wave::support_c99);
  return static_cast<wave::language_support>(base | wave::support_option_emit_pragma_directives |
                                             wave::support_option_no_newline_at_end_of_file |
                                             wave::support_option_include_guard_detection);
}

// The library's own macro for this combines two enums, which is deprecated in C++20.
bool is_a(wave::token_id id, wave::token_category category) {
  constexpr auto mask = static_cast<unsigned>(wave::TokenTypeMask);
  return (static_cast<unsigned>(id) & mask) == (static_cast<unsigned>(category) & mask);
}

// Collector converts the library's tokens to Preprocessed.
class Collector {
 public:
  explicit Collector(Run& run) : run_(run) {}

  void take(const WaveToken& token) {
    const auto id = wave::token_id(token);
    const std::string_view value(token.get_value().c_str(), token.get_value().size());
    if (in_pragma_) return take_in_pragma(id, value);
    if (id == wave::T_PP_PRAGMA) return start_pragma(token);
    if (id == wave::T_EOF || id == wave::T_PLACEHOLDER || value.empty()) return;
    if (is_a(id, wave::WhiteSpaceTokenType) || is_a(id, wave::EOLTokenType)) return;
    if (id == wave::T_STRINGLIT && is_file_macro(token, value)) return append(place_of(token), path_literal(value));
    const bool is_hidden = value.find(hidden_pragma_name) != value.npos && !(is_literal(id) && is_written(token));
    append(place_of(token), is_hidden ? shown(std::string(value)) : value);
  }

  Preprocessed finish() {
    if (in_pragma_) end_pragma();
    return std::move(out_);
  }

 private:
  // A place that the library knows: in joined lines.
  struct At {
    SourceId source = SourceId::none;
    LinePlace place;
  };

  static bool is_literal(wave::token_id id) { return id == wave::T_STRINGLIT || id == wave::T_CHARLIT; }

  // Returns whether the text is the value of __FILE__: the library's name of the file, which the user has not written.
  bool is_file_macro(const WaveToken& token, std::string_view value) {
    return source_of(value.substr(1, value.size() - 2)) != SourceId::none && !is_written(token);
  }

  // Returns whether the source has a literal at the token's place.
  bool is_written(const WaveToken& token) {
    const auto& position = token.get_position();
    const SourceId file = source_of(position.get_file().c_str());
    if (file == SourceId::none) return false;
    const LinePlace at = run_.in_source(file, place_at(position));
    std::string_view line = run_.sources()[file].line(at.line);
    if (at.column == 0 || at.column > line.size()) return false;
    line.remove_prefix(at.column - 1);
    if (line.starts_with('L')) line.remove_prefix(1);
    return line.starts_with('"') || line.starts_with('\'');
  }
  std::string path_literal(std::string_view value) {
    std::string out = "\"";
    for (const char c : run_.sources()[source_of(value.substr(1, value.size() - 2))].path) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + "\"";
  }

  // Returns the token's place. A macro may come from another file or the command line. Then its tokens get the place of
  // the token before, so that every token belongs to the current file.
  At place_of(const WaveToken& token) {
    const auto& position = token.get_position();
    const SourceId current = run_.current_file();
    if (source_of(position.get_file().c_str()) == current) return {current, place_at(position)};
    return last_.source == current ? last_ : At{current, {1, 1}};
  }

  void append(const At& at, std::string_view value) {
    const bool touches = at.source == next_.source && at.place == next_.place;
    const LinePlace in_source = run_.in_source(at.source, at.place);
    if (!touches) out_.text += at.place.line == next_.place.line ? ' ' : '\n';
    if (!touches || in_source != next_in_source_)
      out_.segments.push_back(
          {static_cast<std::uint32_t>(out_.text.size()), at.source, in_source.line, in_source.column});
    append_shown(value);
    last_ = at;
    next_ = at;
    next_.place.column += static_cast<std::uint32_t>(value.size());
    next_in_source_ = in_source;
    next_in_source_.column += static_cast<std::uint32_t>(value.size());
  }

  void append_shown(std::string_view value) {
    const std::size_t begin = out_.text.size();
    out_.text += value;
    if (!value.starts_with('L') || value.find(hidden_backslash) == std::string_view::npos) return;
    std::replace(out_.text.begin() + static_cast<std::ptrdiff_t>(begin), out_.text.end(), hidden_backslash, '\\');
  }

  void start_pragma(const WaveToken& token) {
    in_pragma_ = true;
    out_.text += '\n';
    next_ = {};
    append(place_of(token), "#pragma");
  }
  void take_in_pragma(wave::token_id id, std::string_view value) {
    if (id == wave::T_NEWLINE || id == wave::T_EOF) return end_pragma();
    if (is_a(id, wave::WhiteSpaceTokenType)) value = " ";
    out_.text += is_literal(id) ? std::string(value) : shown(std::string(value));
  }
  void end_pragma() {
    out_.text += '\n';
    in_pragma_ = false;
    next_ = {};
  }

  Run& run_;
  Preprocessed out_;
  At last_;
  At next_;  // where the next token would be if it follows without a gap
  LinePlace next_in_source_;
  bool in_pragma_ = false;
};

// Removes the severity with which the library's messages begin.
std::string without_severity(std::string text) {
  for (const std::string_view severity : {"fatal error: ", "error: ", "warning: ", "lexical error: "})
    if (text.starts_with(severity)) text.erase(0, severity.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

template <typename Exception>
void report(Run& run, const Exception& fault) {
  const SourceId id = source_of(fault.file_name());
  const LinePlace place{static_cast<std::uint32_t>(fault.line_no()), static_cast<std::uint32_t>(fault.column_no())};
  Span at = run.span(id, place, 1);
  if (id == SourceId::none || id >= static_cast<SourceId>(run.sources().size())) at = {};
  run.diagnostics().error(at, shown(without_severity(fault.description())));
}

bool is_macro_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), follows);
}

std::string name_of(const std::string& define) { return define.substr(0, define.find('=')); }

// Returns the macro's text. A macro without one is 1.
std::string text_of(const std::string& define) {
  const std::size_t sign = define.find('=');
  return sign == std::string::npos ? "1" : define.substr(sign + 1);
}

bool is_reserved(std::string_view name) {
  constexpr std::string_view names[] = {"_Pragma",  "defined",  "__CORELANE_IDL__",  "__FILE__", "__LINE__",
                                        "__DATE__", "__TIME__", "__INCLUDE_LEVEL__", "__STDC__"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

void define_macros(Context& context, const PreprocessorOptions& options) {
  context.add_macro_definition(std::string("__CORELANE_IDL__=1"), true);
  std::set<std::string> known;
  for (const std::string& define : options.defines)
    if (known.insert(name_of(define)).second) context.add_macro_definition(define);
  for (const std::string& name : options.undefines) context.remove_macro_definition(name, true);
}

Preprocessed run_library(Run& run, SourceId main, const PreprocessorOptions& options) {
  std::string text = run.text(main);
  const std::string name = wave_name(main);
  Hooks hooks;
  hooks.run = &run;
  Context context(text.begin(), text.end(), name.c_str(), hooks);
  context.set_language(language());
  // More than our own limit, so that our message comes first.
  context.set_max_include_nesting_depth(options.limits.include_depth + 8);
  define_macros(context, options);
  Collector collector(run);
  // bound: the text; the limits bound what macros and includes add to it
  const auto end = context.end();
  for (auto token = context.begin(); token != end; ++token) collector.take(*token);
  return collector.finish();
}

}  // namespace

std::optional<std::string> fault_of(const PreprocessorOptions& options) {
  std::map<std::string, std::string> known;
  for (const std::string& define : options.defines) {
    const std::string name = name_of(define);
    if (!is_macro_name(name) || define.find('\n') != std::string::npos)
      return "-D expects NAME or NAME=text, not " + quoted(define);
    if (is_reserved(name)) return "-D cannot define " + quoted(name) + ": the name is reserved";
    const auto [entry, is_new] = known.try_emplace(name, text_of(define));
    if (!is_new && entry->second != text_of(define)) return "-D defines " + quoted(name) + " twice, with other texts";
  }
  for (const std::string& name : options.undefines)
    if (!is_macro_name(name)) return "-U expects NAME, not " + quoted(name);
  return std::nullopt;
}

Preprocessed preprocess(SourceMap& sources, SourceLoader& loader, const std::string& main_path,
                        const PreprocessorOptions& options, Diagnostics& diagnostics) {
  if (auto fault = fault_of(options)) {
    diagnostics.error({}, *std::move(fault));
    return {};
  }
  Run run(sources, loader, options.limits, diagnostics);
  try {
    const auto found = loader.locate_main(main_path);
    if (const auto* failure = std::get_if<LoadFailure>(&found)) {
      diagnostics.error({}, "cannot open " + quoted(main_path) + ": " + failure->reason);
      return {};
    }
    const SourceId main = run.open(std::get<Located>(found), {});
    if (main == SourceId::none) return {};
    return run_library(run, main, options);
  } catch (const Stop&) {
  } catch (const wave::cpp_exception& fault) {
    report(run, fault);
  } catch (const wave::cpplexer::lexing_exception& fault) {
    report(run, fault);
  }
  return {};
}

}  // namespace corelane::idl
