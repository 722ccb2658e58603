// Node is a value of a scenario file before it is checked, with its place. Tables and lists are nodes with children. It
// does not depend on the format of the file. A copy of it still knows its place in the file, unlike the copy of a node
// of the TOML parser.
//
// Threads: values.
//
// The folder orb/eval/scenario reads scenario files, and says what is wrong with them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orb/core/text/toml_text.h"

namespace corelane::eval {

struct Node {
  enum class Kind : std::uint8_t { text, whole, number, flag, list, table, other };

  Kind kind = Kind::table;
  core::FilePlace at{};  // of the value
  std::string key{};     // of a value in a table
  core::FilePlace key_at{};
  std::string text{};            // of a text
  std::int64_t whole = 0;        // of a whole number
  double number = 0;             // of a number, also of a whole one
  std::vector<Node> children{};  // of a list or a table, in the order of the file

  const Node* find(std::string_view name) const noexcept {
    for (const Node& child : children)
      if (child.key == name) return &child;
    return nullptr;
  }
  Node* find(std::string_view name) noexcept {
    for (Node& child : children)
      if (child.key == name) return &child;
    return nullptr;
  }
};

// Returns the value as a message shows it: "\"10ms\"", "7", "a table". It has no key, and is one line of 60 characters
// at most.
std::string shown(const Node& node);

}  // namespace corelane::eval
