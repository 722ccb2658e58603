#include "idl/sema/sema.h"

#include "idl/sema/analyzer/analyzer.h"

namespace corelane::idl {

Model analyze(const ast::Specification& specification, const SourceMap& sources, Diagnostics& diagnostics) {
  return Analyzer(sources, diagnostics).run(specification);
}

}  // namespace corelane::idl
