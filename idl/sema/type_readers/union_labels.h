// Checks the discriminator and the labels of a union. Section: OMG IDL 4.2, 7.4.1.4.4.4.2.
//
// Threads: none.
#pragma once

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"

namespace corelane::idl {

// Reports a type on which a union cannot switch. Returns whether a union can switch on it.
bool check_discriminator(const Analysis& analysis, TypeId type, const Span& at);

// Checks that each label is used once, that there is at most one default, and that there is none if the labels cover
// everything. Sets Union::unlabelled. Precondition: the discriminator has a type.
void check_labels(const Analysis& analysis, const ast::Union& source, Union& body);

}  // namespace corelane::idl
