// TableBasis is the contract for a measured operation in a contracts file, without its budget, and says where its terms
// come from. A server that starts with the file uses these terms instead of those of its IDL. So no term may change
// unnoticed.
// Threads: pure. Allocates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/contract.h"

namespace corelane::tool {

// The terms that the user has given.
struct GivenTerms {
  std::optional<Duration> period{}, deadline{}, jitter{};
};

struct TableBasis {
  Contract contract{};
  std::vector<std::string> assumed{};  // the terms that neither the user nor the server has given
  std::string note{};                  // where the terms come from, for people; empty: nothing to say
};

// Returns the basis for an operation that this command called with `called`: given terms, or defaults. `own` is the
// contracts that the server has for it. If there is exactly one, it is kept, with the given terms over it. Then a
// deadline equal to the period and a default jitter follow a given period, as in a contracts file.
TableBasis basis_of_calls(const GivenTerms& given, const Contract& called, const std::vector<Contract>& own);
// Returns the basis for an operation that others called. `seen` is the contract of one of its tasks; it is a client's
// if the server has none. The policy and importance of that client's task do not belong to the operation.
TableBasis basis_of_jobs(const Contract& seen, const std::vector<Contract>& own);

}  // namespace corelane::tool
