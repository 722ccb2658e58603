// analyze() converts the syntax tree to a checked model. Section: OMG IDL 4.2, clauses 7.4 and 7.5.
#pragma once

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"

namespace corelane::idl {

// Reports faults to `diagnostics`. After an error the model must not be used. The model's files are the sources, in
// order.
Model analyze(const ast::Specification& specification, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace corelane::idl
