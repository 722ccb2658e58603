// Registry lists the implementations of one interface. Each has a name, and a setting chooses one by it. A registry is
// a table that is constant at compile time: nothing registers itself at the start of the program.
//
// Threads: constant objects; the functions that return text allocate.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace corelane {

// The entries, in the order of their documentation. Each is a constant object with a `name`. The first is the default.
template <typename Entry>
using Registry = std::span<const Entry* const>;

// Returns the entry with this name, or null if there is none.
template <typename Entry>
const Entry* find_named(Registry<Entry> registry, std::string_view name) noexcept {
  for (const Entry* const entry : registry)
    if (entry->name == name) return entry;
  return nullptr;
}

// The same for a table whose entries are not objects of their own.
template <typename Entry>
const Entry* find_named(std::span<const Entry> table, std::string_view name) noexcept {
  for (const Entry& entry : table)
    if (entry.name == name) return &entry;
  return nullptr;
}

// Returns "a, b or c", for messages that say what is expected.
template <typename Entry>
std::string names_of(Registry<Entry> registry) {
  std::string text;
  for (std::size_t i = 0; i < registry.size(); ++i) {
    if (i > 0) text += i + 1 == registry.size() ? " or " : ", ";
    text += registry[i]->name;
  }
  return text;
}

// Returns "a: what a does. b: what b does", for the help of a setting. `help` of an entry is the text behind its name.
template <typename Entry>
std::string help_of(Registry<Entry> registry) {
  std::string text;
  for (const Entry* const entry : registry) {
    if (!text.empty()) text += ". ";
    text.append(entry->name).append(": ").append(entry->help);
  }
  return text;
}

}  // namespace corelane
