#include "idl/cxx/generate.h"

#include "idl/cxx/emit.h"
#include "idl/cxx/layout.h"
#include "idl/cxx/spelling.h"

namespace corelane::idl::cxx {

std::vector<OutputFile> generate(const Model& model, const Options& options) {
  const Spelling spelling(model);
  const std::string stem = stem_of(model[FileId::main]);
  std::vector<OutputFile> files = {{stem + "C.h", client_header(spelling)}, {stem + "C.cpp", client_source(spelling)}};
  if (options.servant) {
    files.push_back({stem + "S.h", servant_header(spelling)});
    files.push_back({stem + "S.cpp", servant_source(spelling)});
  }
  return files;
}

}  // namespace corelane::idl::cxx
