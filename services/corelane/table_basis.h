// TableBasis: the contract that a measured operation has in a contracts file, but for its budget, and where its terms
// come from. A server that starts with the file has them instead of those of its IDL, so none may change unseen.
// Threads: pure. Allocates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/contract.h"

namespace corelane::tool {

// What the user has said of the contract.
struct GivenTerms {
  std::optional<Duration> period{}, deadline{}, jitter{};
};

struct TableBasis {
  Contract contract{};
  std::vector<std::string> assumed{};  // the terms that nobody said, neither the user nor the server
  std::string note{};                  // where they come from, for people; empty: there is nothing to say
};

// Of an operation that was called with `called`, whose terms are those given or the defaults. `own`: the contracts that
// the server has for it. One alone is kept, with what was given over it: a deadline that is its period and a jitter
// that is the default follow a period that was given, as in a contracts file.
TableBasis basis_of_calls(const GivenTerms& given, const Contract& called, const std::vector<Contract>& own);
// Of an operation that others called; `seen`: the contract of one of its tasks, a client's where the server has none.
// Whose policy and importance that client's task had is no matter of the operation's.
TableBasis basis_of_jobs(const Contract& seen, const std::vector<Contract>& own);

}  // namespace corelane::tool
