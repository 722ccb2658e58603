// The C++ back end: generate() makes the text of the generated files from a checked model.
// OMG IDL to C++11 mapping, 1.4.
//
// Threads: none; a pure function without clock, file or global state.
// Invariants:
// - The same model and options always give the same text.
// - The text compiles without a warning under -Wall -Wextra -Wpedantic -Wconversion -Wshadow.
// - Names of the generator start with an underscore, which no IDL identifier does. So they never clash with IDL names.
#pragma once

#include <string>
#include <vector>

#include "idl/model/model.h"

namespace corelane::idl::cxx {

struct Options {
  bool servant = true;      // false: only the client's files
  bool ami = false;         // true: also asynchronous stubs and reply handlers, in separate files
  bool extensions = false;  // true: allows @optional and map, in an encoding that only Corelane has
};

struct OutputFile {
  std::string path;  // relative to the output folder, with '/': "plant/controllerC.h"
  std::string text;
};

// Returns fooC.h, fooC.cpp, fooS.h and fooS.cpp for the model's main file, in this order. With `ami`, the same four
// files of fooAmi follow.
std::vector<OutputFile> generate(const Model& model, const Options& options);

}  // namespace corelane::idl::cxx
