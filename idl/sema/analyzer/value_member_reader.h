// ValueMemberReader reads the state members and factories of valuetypes. Section: OMG IDL 4.2, 7.4.5 and 7.4.7.
//
// Threads: one owner.
#pragma once

#include <variant>

#include "idl/ast/ast.h"
#include "idl/sema/analyzer/operation_reader.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/local_types.h"
#include "idl/sema/type_readers/member_reader.h"
#include "idl/sema/type_readers/type_reader.h"

namespace corelane::idl {

class ValueMemberReader {
 public:
  ValueMemberReader(Analysis& analysis, LocalTypes& locals, TypeReader& types, MemberReader& members,
                    OperationReader& operations)
      : analysis_(analysis), locals_(locals), types_(types), members_(members), operations_(operations) {}

  void read(const ast::State& state, const ast::Definition& definition);
  void read(const ast::Factory& factory, const ast::Definition& definition);

 private:
  Valuetype& open_value() { return std::get<Valuetype>(analysis_.scope().body); }

  Analysis& analysis_;
  LocalTypes& locals_;
  TypeReader& types_;
  MemberReader& members_;
  OperationReader& operations_;
};

}  // namespace corelane::idl
