// What the runtime knows of a servant's type: constant data in generated code.
// Threads: constants.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/core/operation.h"

namespace corelane::core {

class ServerRequest;

// One operation of a servant. `self` is what the servant's _self() gives.
struct Upcall {
  std::string_view name;  // as on the wire: "step", "_get_count"
  void (*remote)(void* self, ServerRequest& request) = nullptr;
  void (*local)(void* self, void* const* frame) = nullptr;  // addresses: result (unless void), then parameters
  bool oneway = false;
  std::span<const RaisesEntry> raises{};
  const Contract* contract = nullptr;
};

struct Skeleton {
  std::span<const char* const> ids;  // most derived first; ends with CORBA::Object's
  std::span<const Upcall> upcalls;   // sorted by name; inherited ones included

  // Null when the interface has no such operation. Bound: log2 of the number of operations.
  const Upcall* find(std::string_view name) const noexcept;
  bool is_a(std::string_view repository_id) const noexcept;
  // Whether any operation declares a contract in its IDL.
  bool has_contracts() const noexcept;
};

// "IDL:Plant/Controller:1.0 has no operation stp; the nearest is step". For people; a name from a peer may be anything.
std::string unknown_operation(const Skeleton& skeleton, std::string_view name);

// What reports call a task of the operation: "Plant/Controller.step" of IDL:Plant/Controller:1.0.
std::string label_of(std::string_view repository_id, std::string_view operation);
std::string label_of(const Skeleton& skeleton, const Upcall& upcall);

// The contract of each operation of a servant's type, in the order of its upcalls; empty: none has one.
using OperationContracts = std::vector<std::optional<Contract>>;
// Those of the IDL alone.
OperationContracts declared_contracts(const Skeleton& skeleton);

}  // namespace corelane::core
