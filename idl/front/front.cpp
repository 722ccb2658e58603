#include "idl/front/front.h"

#include <string_view>
#include <utility>

#include "idl/front/embedded.h"
#include "idl/front/lexer.h"
#include "idl/front/parse.h"

namespace corelane::idl {
namespace {

// The definitions of a file that is part of the compiler, which needs no preprocessing.
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

// The declarations of the annotations of the standard, in front of those of the user.
void add_standard_annotations(SourceMap& sources, ast::Definitions& into, Diagnostics& diagnostics) {
  ast::Definitions all = definitions_of("corelane/annotations.idl", standard_annotations(), sources, diagnostics);
  for (auto& definition : all)
    if (auto* declaration = std::get_if<ast::AnnotationDeclaration>(&definition->node)) declaration->standard = true;
  put_before(std::move(all), into);
}

// Finds the files whose whole text stands inside definitions of other files: module M { #include "part.idl" };
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

// Whether the text names CORBA::TCKind and declares no such module. Like CORBA::TypeCode it needs no #include.
bool lacks_type_kinds(const std::vector<Token>& tokens) {
  bool names = false;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].is("module") && tokens[i + 1].text == "CORBA") return false;
    if (tokens[i].text == "CORBA" && tokens[i + 1].is("::") && tokens[i + 2].text == "TCKind") names = true;
  }
  return names;
}

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
  if (lacks_type_kinds(result.tokens)) put_before(definitions_of("orb.idl", standard_orb(), sources, diagnostics), all);
  add_standard_annotations(sources, all, diagnostics);
  return result;
}

}  // namespace corelane::idl
