#include "idl/cxx/generate.h"

#include "idl/cxx/async/ami.h"
#include "idl/cxx/files/emit.h"
#include "idl/cxx/spelling/deprecated.h"
#include "idl/cxx/spelling/layout.h"
#include "idl/cxx/spelling/spelling.h"

namespace corelane::idl::cxx {

namespace {

void append_files(const Model& model, bool servant, std::vector<OutputFile>& files) {
  const Spelling spelling(model);
  const std::string stem = stem_of(model[FileId::main]);
  files.push_back({stem + "C.h", allow_deprecated(model, client_header(spelling))});
  files.push_back({stem + "C.cpp", allow_deprecated(model, client_source(spelling))});
  if (!servant) return;
  files.push_back({stem + "S.h", allow_deprecated(model, servant_header(spelling))});
  files.push_back({stem + "S.cpp", allow_deprecated(model, servant_source(spelling))});
}

}  // namespace

std::vector<OutputFile> generate(const Model& model, const Options& options) {
  std::vector<OutputFile> files;
  append_files(model, options.servant, files);
  if (options.ami) append_files(with_reply_handlers(model), true, files);
  return files;
}

}  // namespace corelane::idl::cxx
