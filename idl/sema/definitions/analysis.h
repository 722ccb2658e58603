// Analysis is what the readers of one specification share: the model that they make, and what is known so far.
//
// Threads: one owner, used once.
//
// The folder idl/sema/definitions adds definitions to the model, and keeps what later definitions need to know of them.
#pragma once

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"
#include "idl/sema/annotations/annotations.h"
#include "idl/sema/constants/constants.h"
#include "idl/sema/definitions/model_builder.h"
#include "idl/sema/names/names.h"
#include "idl/sema/names/symbol_ids.h"
#include "idl/sema/types/extents.h"
#include "idl/sema/types/types.h"

namespace corelane::idl {

struct Analysis {
  Analysis(const SourceMap& texts, Diagnostics& faults) : sources(texts), diagnostics(faults) {}
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  // Checks the annotations of a definition, and adds it to the current scope. The symbol refers to it from now on.
  DefId add(Symbol& symbol, const ast::Definition& definition, Target target) {
    return builder.add(symbol, definition.name, annotations.check(definition.annotations, target));
  }

  // Returns the definition around the current scope. Precondition: there is one.
  Definition& scope() { return model[builder.scope()]; }

  const SourceMap& sources;
  Diagnostics& diagnostics;
  Model model;
  TypeTable types{model};
  Extents extents{model};
  Names names{diagnostics};
  Constants constants{model, types, names, diagnostics};
  AnnotationChecker annotations{model, names, constants, diagnostics};
  SymbolIds ids{model, names, diagnostics};
  ModelBuilder builder{model, types, names, ids};
};

}  // namespace corelane::idl
