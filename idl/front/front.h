// run_front() is the whole front end: it converts a file to a syntax tree.
//
// Threads: one at a time (the preprocessor library keeps global state).
#pragma once

#include <string>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/front/preprocessed.h"
#include "idl/front/preprocessor_options.h"
#include "idl/front/source_loader.h"
#include "idl/front/token.h"

namespace corelane::idl {

struct FrontResult {
  Preprocessed preprocessed;
  std::vector<Token> tokens;  // refer to preprocessed.text
  ast::Specification specification;
  bool complete = false;  // names can be checked, since no syntax error has removed a declaration
};

// Reads, preprocesses and parses `main_path`. Reports faults to `diagnostics`. sources[SourceId::main] is the main
// file, if it could be opened.
FrontResult run_front(SourceMap& sources, SourceLoader& loader, const std::string& main_path,
                      const PreprocessorOptions& options, Diagnostics& diagnostics);

}  // namespace corelane::idl
