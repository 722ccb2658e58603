// analyze: the syntax tree to the checked model. Section: OMG IDL 4.2, clauses 7.4 and 7.5.
#pragma once

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"

namespace corelane::idl {

// Faults go to `diagnostics`; after an error the model is not to be used. Files of the model are the sources, in order.
Model analyze(const ast::Specification& specification, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace corelane::idl
