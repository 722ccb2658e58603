// BitsetReader reads bitsets. Section: OMG IDL 4.2, 7.4.13.4.3, 7.4.13.4.4.
//
// Threads: one owner.
#pragma once

#include <cstdint>

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/inheritance.h"
#include "idl/sema/definitions/open_aggregates.h"
#include "idl/sema/type_readers/type_reader.h"

namespace corelane::idl {

class BitsetReader {
 public:
  BitsetReader(Analysis& analysis, Inheritance& inheritance, OpenAggregates& aggregates, TypeReader& types)
      : analysis_(analysis), inheritance_(inheritance), aggregates_(aggregates), types_(types) {}

  void read(const ast::Bitset& bitset, const ast::Definition& definition);

 private:
  void add_bitfields(const ast::Bitfield& source, Bitset& body);
  TypeId bitfield_type(const ast::Bitfield& source, std::uint16_t bits);

  Analysis& analysis_;
  Inheritance& inheritance_;
  OpenAggregates& aggregates_;
  TypeReader& types_;
};

}  // namespace corelane::idl
