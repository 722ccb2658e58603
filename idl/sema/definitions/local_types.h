// LocalTypes finds local interfaces and native types in other types. These cannot leave the process, so operations and
// attributes of remote interfaces and the state of values must not use them. CORBA 3.4 part 1, 7.8.6.3.
//
// Threads: one owner.
#pragma once

#include <map>
#include <string_view>

#include "idl/sema/definitions/analysis.h"

namespace corelane::idl {

class LocalTypes {
 public:
  explicit LocalTypes(const Analysis& analysis) : analysis_(analysis) {}

  // Records what a member adds to a struct or union, so that it is not searched again.
  void add_member(TypeId holder, TypeId member);
  // Records what a member adds to an exception.
  void add_member(const Symbol& exception, TypeId member);

  // Reports `type` if it is or contains a local interface, and the current scope is a remote interface. `what` is the
  // part of the declaration that has the type: "result".
  void check_remote(TypeId type, const Span& at, std::string_view what) const;
  // Reports an exception, or a native type that is raised, if it cannot leave the process, and the current scope is a
  // remote interface. Returns whether it reported.
  bool check_raised(const Symbol& raised, const Span& at) const;
  // Reports `type` if it is or contains a local interface or a native type.
  void check_state(TypeId type, const Span& at, std::string_view what) const;

 private:
  const Symbol* local_in(TypeId id) const;
  bool is_remote() const;
  void report(const Span& at, std::string_view what, const Symbol& local) const;

  const Analysis& analysis_;
  std::map<TypeId, const Symbol*> in_types_;  // structs and unions with a local interface or a native type in them
  std::map<const Symbol*, const Symbol*> in_exceptions_;  // exceptions with one in them
};

}  // namespace corelane::idl
