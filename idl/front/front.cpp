#include "idl/front/front.h"

#include <utility>

#include "idl/front/embedded.h"
#include "idl/front/lexer.h"
#include "idl/front/parse.h"

namespace corelane::idl {
namespace {

// The declarations of the annotations of the standard, in front of those of the user. The text is our own, so it needs
// no preprocessing.
void add_standard_annotations(SourceMap& sources, ast::Definitions& into, Diagnostics& diagnostics) {
  const std::string name = "corelane/annotations.idl";
  const SourceId id = sources.add("<corelane>/" + name, name, std::string(standard_annotations()), true);
  Preprocessed text;
  for (std::uint32_t line = 1; line <= sources[id].lines.size(); ++line) {
    text.segments.push_back({static_cast<std::uint32_t>(text.text.size()), id, line, 1});
    const std::string_view content = sources[id].line(line);
    text.text.append(content.substr(0, content.find("//"))).append("\n");
  }
  Parsed parsed = parse(tokenize(text, sources, diagnostics), diagnostics);
  ast::Definitions all = std::move(parsed.specification.definitions);
  for (auto& definition : all)
    if (auto* declaration = std::get_if<ast::AnnotationDeclaration>(&definition->node)) declaration->standard = true;
  for (auto& definition : into) all.push_back(std::move(definition));
  into = std::move(all);
}

}  // namespace

FrontResult run_front(SourceMap& sources, SourceLoader& loader, const std::string& main_path,
                      const PreprocessorOptions& options, Diagnostics& diagnostics) {
  FrontResult result;
  result.preprocessed = preprocess(sources, loader, main_path, options, diagnostics);
  if (diagnostics.has_errors()) return result;
  result.tokens = tokenize(result.preprocessed, sources, diagnostics);
  const bool sound = !diagnostics.has_errors();
  Parsed parsed = parse(result.tokens, diagnostics);
  result.specification = std::move(parsed.specification);
  result.complete = parsed.complete && sound;
  if (result.complete) add_standard_annotations(sources, result.specification.definitions, diagnostics);
  return result;
}

}  // namespace corelane::idl
