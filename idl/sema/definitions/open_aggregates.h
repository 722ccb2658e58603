// OpenAggregates keeps the structs, unions, exceptions and bitsets whose bodies are being read. A type is incomplete
// there, and it is recursive if a member contains it nevertheless.
//
// Threads: one owner.
#pragma once

#include <functional>
#include <vector>

#include "idl/sema/definitions/analysis.h"

namespace corelane::idl {

class OpenAggregates {
 public:
  explicit OpenAggregates(Analysis& analysis) : analysis_(analysis) {}

  // Reads the body of a type in its own scope by calling `read`. What the body defines goes to `contents`. Returns
  // whether the type contains itself.
  bool read_body(Symbol& symbol, DefId id, SourceId file, std::vector<DefId>& contents,
                 const std::function<void()>& read);

  bool is_open(const Symbol& symbol) const;

  // Records that the body which is being read has a member of type `member`.
  void add_member(TypeId member);

 private:
  struct Aggregate {
    const Symbol* symbol;
    bool recursive = false;  // contains itself
  };

  const Symbol* incomplete_in(TypeId id) const;

  Analysis& analysis_;
  std::vector<Aggregate> open_;  // innermost last
};

}  // namespace corelane::idl
