#include "idl/front/front.h"

#include <utility>

#include "idl/front/lexer.h"
#include "idl/front/parse.h"

namespace corelane::idl {

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
  return result;
}

}  // namespace corelane::idl
