// Sweep is one [[sweep]] of a scenario file: a field, and the values that it takes in turn.
// Threads: values and pure functions. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/eval/scenario/node.h"

namespace corelane::eval {

struct Sweep {
  std::string field;         // "generate.utilization", "task.LABEL.budget", "seed"
  std::vector<Node> values;  // or a range:
  std::optional<Node> from, to, step;
};

inline constexpr std::size_t most_values = 10'000;  // of a sweep, and of the combinations of all sweeps

// A fault of a sweep, as the end of a message.
struct SweepFault {
  std::string text;
};

// Returns the values in their order, those of a range included.
Expected<std::vector<Node>, SweepFault> values_of(const Sweep& sweep);

// Sets the field in the file's table. Creates a table that the file leaves out. Returns what is wrong with the name; ""
// if nothing is.
std::string set_field(Node& root, const std::string& field, const Node& value);

// Returns the label of the `index`-th item of a table such as task or chain, from 0: its own, or "task-" and its
// number.
std::string label_of(const Node& item, const std::string& table, std::size_t index);

}  // namespace corelane::eval
