#include "idl/front/front.h"

#include <string_view>
#include <utility>

#include "idl/front/lexer/lexer.h"
#include "idl/front/parser/parse.h"
#include "idl/front/preprocessor/embedded.h"
#include "idl/front/preprocessor/preprocessor.h"

namespace corelane::idl {
namespace {

// Returns the definitions of a file that is part of the compiler. It needs no preprocessing.
ast::Definitions definitions_of(const std::string& name, std::string_view source, SourceMap& sources,
                                Diagnostics& diagnostics) {
  const SourceId id = sources.add("<corelane>/" + name, name, std::string(source), true);
  Preprocessed text;
  for (std::uint32_t line = 1; line <= sources[id].lines.size(); ++line) {
    text.segments.push_back({static_cast<std::uint32_t>(text.text.size()), id, line, 1});
    const std::string_view content = sources[id].line(line);
    text.text.append(content.substr(0, content.find("//"))).append("\n");
  }
  return std::move(parse(tokenize(text, sources, diagnostics), diagnostics).specification.definitions);
}

void put_before(ast::Definitions first, ast::Definitions& rest) {
  for (auto& definition : rest) first.push_back(std::move(definition));
  rest = std::move(first);
}

// Puts the declarations of the standard annotations before the user's definitions.
void add_standard_annotations(SourceMap& sources, ast::Definitions& into, Diagnostics& diagnostics) {
  ast::Definitions all = definitions_of("corelane/annotations.idl", standard_annotations(), sources, diagnostics);
  for (auto& definition : all)
    if (auto* declaration = std::get_if<ast::AnnotationDeclaration>(&definition->node)) declaration->standard = true;
  put_before(std::move(all), into);
}

// Finds files whose whole text is inside definitions of other files: module M { #include "part.idl" };
void mark_parts(const std::vector<Token>& tokens, SourceMap& sources) {
  std::vector<bool> outside(sources.size()), inside(sources.size());
  SourceId holder = SourceId::none;  // of the outermost definition
  std::size_t depth = 0;
  for (const Token& token : tokens) {
    const auto at = static_cast<std::size_t>(token.span.source);
    if (token.is(TokenKind::pragma) || token.is(TokenKind::end) || at >= sources.size()) continue;
    if (token.is("}") && depth > 0) --depth;
    if (depth == 0) holder = token.span.source;
    if (token.span.source == holder)
      outside[at] = true;
    else
      inside[at] = true;
    if (token.is("{")) ++depth;
  }
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (inside[i] && !outside[i]) sources[static_cast<SourceId>(i)].is_part = true;
}

// What a text uses of CORBA without an #include, such as CORBA::TypeCode. Every ORB knows these names.
struct UseOfCorba {
  bool module = false;         // declares module CORBA itself
  bool names = false;          // uses CORBA::TCKind or CORBA::AbstractBase, or imports CORBA
  bool abstract_base = false;  // uses AbstractBase without declaring it
};

UseOfCorba use_of_corba(const std::vector<Token>& tokens) {
  UseOfCorba use;
  bool declares_base = false;
  const auto is_corba = [&](std::size_t at) { return at < tokens.size() && tokens[at].text == "CORBA"; };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("module") && is_corba(i + 1)) use.module = true;
    if (tokens[i].is("import") && (is_corba(i + 1) || is_corba(i + 2))) use.names = true;
    if (is_corba(i) && i + 2 < tokens.size() && tokens[i + 1].is("::"))
      use.names |= tokens[i + 2].text == "TCKind" || tokens[i + 2].text == "AbstractBase";
    if (tokens[i].text != "AbstractBase" || i == 0) continue;
    use.abstract_base = true;
    declares_base |= tokens[i - 1].is("native") || tokens[i - 1].is("interface") || tokens[i - 1].is("valuetype");
  }
  use.abstract_base &= use.module && !declares_base;
  return use;
}

// Added if the text declares module CORBA itself and uses AbstractBase without declaring it, as the OMG's orb.idl does.
constexpr std::string_view abstract_base =
    "module CORBA { abstract interface AbstractBase {}; typeid AbstractBase \"IDL:omg.org/CORBA/AbstractBase:1.0\"; };";

}  // namespace

FrontResult run_front(SourceMap& sources, SourceLoader& loader, const std::string& main_path,
                      const PreprocessorOptions& options, Diagnostics& diagnostics) {
  FrontResult result;
  result.preprocessed = preprocess(sources, loader, main_path, options, diagnostics);
  if (diagnostics.has_errors()) return result;
  result.tokens = tokenize(result.preprocessed, sources, diagnostics);
  mark_parts(result.tokens, sources);
  const bool sound = !diagnostics.has_errors();
  Parsed parsed = parse(result.tokens, diagnostics);
  result.specification = std::move(parsed.specification);
  result.complete = parsed.complete && sound;
  if (!result.complete) return result;
  ast::Definitions& all = result.specification.definitions;
  const UseOfCorba use = use_of_corba(result.tokens);
  if (use.names && !use.module) put_before(definitions_of("orb.idl", standard_orb(), sources, diagnostics), all);
  if (use.abstract_base)
    put_before(definitions_of("corelane/abstract_base.idl", abstract_base, sources, diagnostics), all);
  add_standard_annotations(sources, all, diagnostics);
  return result;
}

}  // namespace corelane::idl
