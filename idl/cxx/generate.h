// The C++ back end: a checked model in, the text of the generated files out. OMG IDL to C++11 mapping, 1.4.
//
// Threads: none; a pure function without clock, file or global state.
// Invariants: one model and one set of options always give the same text; the text compiles without a warning under
// -Wall -Wextra -Wpedantic -Wconversion -Wshadow; a name from IDL never meets a name of the generator, since those
// start with an underscore, which no IDL identifier does.
#pragma once

#include <string>
#include <vector>

#include "idl/model/model.h"

namespace corelane::idl::cxx {

struct Options {
  bool servant = true;      // false: only the client's files
  bool ami = false;         // true: asynchronous stubs and reply handlers, in files of their own
  bool extensions = false;  // true: @optional and map, in an encoding of Corelane's own
};

struct OutputFile {
  std::string path;  // relative to the output folder, with '/': "plant/controllerC.h"
  std::string text;
};

// fooC.h, fooC.cpp, fooS.h, fooS.cpp for the model's main file, in this order; then the same of fooAmi.
std::vector<OutputFile> generate(const Model& model, const Options& options);

}  // namespace corelane::idl::cxx
