// EnumerationReader reads enums and bitmasks. Section: OMG IDL 4.2, 7.4.1.4.4.4.3, 7.4.13.4.3, 7.4.13.4.4, 8.3.4.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"

namespace corelane::idl {

class EnumerationReader {
 public:
  explicit EnumerationReader(Analysis& analysis) : analysis_(analysis) {}

  void read(const ast::Enumeration& enumeration, const ast::Definition& definition);
  void read(const ast::Bitmask& bitmask, const ast::Definition& definition);

 private:
  std::uint16_t bit_bound(const Annotations& annotations, const ast::Definition& definition, std::uint16_t usual,
                          std::uint16_t most);
  void number_enumerators(Enumeration& body, const std::vector<ast::Enumerator>& sources);
  void number_bits(Bitmask& body, const std::vector<ast::Enumerator>& sources);
  Symbol& declare_enumerator(const ast::Identifier& name, DefId owner, std::size_t index);

  Analysis& analysis_;
};

}  // namespace corelane::idl
