// Skeleton and Upcall describe a servant's type to the runtime. They are constant data in generated code.
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

// Upcall describes one operation of a servant. `self` is the result of the servant's _self().
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

  // Returns null if the interface has no such operation. Bound: log2 of the number of operations.
  const Upcall* find(std::string_view name) const noexcept;
  bool is_a(std::string_view repository_id) const noexcept;
  // Returns whether any operation declares a contract in its IDL.
  bool has_contracts() const noexcept;
};

// Returns a message such as "IDL:Plant/Controller:1.0 has no operation stp; the nearest is step". `name` may come from
// a peer and contain anything.
std::string unknown_operation(const Skeleton& skeleton, std::string_view name);

// Returns the name of the operation's tasks in reports: "Plant/Controller.step" for step of IDL:Plant/Controller:1.0.
std::string label_of(std::string_view repository_id, std::string_view operation);
std::string label_of(const Skeleton& skeleton, const Upcall& upcall);
// Returns the most derived interface as reports show it: "Plant/Controller". Allocates nothing.
std::string_view short_id(const Skeleton& skeleton) noexcept;

// The contract of each operation of a servant's type, in the order of its upcalls. Empty if no operation has one.
using OperationContracts = std::vector<std::optional<Contract>>;
// Returns the contracts that the IDL declares.
OperationContracts declared_contracts(const Skeleton& skeleton);

}  // namespace corelane::core
