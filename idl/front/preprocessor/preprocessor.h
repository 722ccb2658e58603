// Preprocessor runs Boost.Wave on the main file and everything that it includes. The result is one text, with a map
// back to the sources. This header hides the library, which gets files only through the SourceLoader.
//
// Threads: one at a time (the library keeps global state).
// Invariants:
// - PreprocessorLimits bounds the work for any text.
// - Every fault of the library becomes a diagnostic.
// - #line and line markers are ignored, so places always refer to real files.
//
// The folder idl/front/preprocessor makes one text of a file and all that it includes.
#pragma once

#include <optional>
#include <string>

#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/front/preprocessed.h"
#include "idl/front/preprocessor_options.h"
#include "idl/front/source_loader.h"

namespace corelane::idl {

// Returns what is wrong with the macros of the command line; nothing if they are valid.
std::optional<std::string> fault_of(const PreprocessorOptions& options);

// Reports faults to `diagnostics`. After an error the result must not be used. The main file becomes source 0.
Preprocessed preprocess(SourceMap& sources, SourceLoader& loader, const std::string& main_path,
                        const PreprocessorOptions& options, Diagnostics& diagnostics);

}  // namespace corelane::idl
