// Functions that parse the values of settings. Each takes a value as text, stores it, and returns "". If the value is
// wrong it changes nothing, and returns what is expected, as the end of a sentence. The tables of settings name these
// functions (orb/base/settings/setting.h).
// Threads: any; pure functions.
#pragma once

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::parse {

template <typename Integer>
std::string number(std::string_view text, Integer& out, Integer least, Integer most) {
  Integer value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc{} && end == text.data() + text.size() && value >= least && value <= most) {
    out = value;
    return {};
  }
  return "a number from " + std::to_string(least) + " to " + std::to_string(most);
}

template <typename Value>
struct Choice {
  std::string_view name;
  Value value;
};

// Sets `out` to the value of the choice with that name. If there is none, returns all names: "a, b or c".
template <typename Value>
std::string choice(std::string_view text, Value& out,
                   std::initializer_list<Choice<std::type_identity_t<Value>>> choices) {
  std::string names;
  std::size_t left = choices.size();
  for (const auto& one : choices) {
    if (one.name == text) return out = one.value, std::string{};
    --left;
    names.append(one.name).append(left > 1 ? ", " : left == 1 ? " or " : "");
  }
  return names;
}

// Takes any text.
inline std::string any_text(std::string_view text, std::string& out) { return out = text, std::string{}; }
// Parses a directory that several processes look into. A relative path would mean another one in each of them.
std::string directory(std::string_view text, std::string& out);
std::string size(std::string_view text, std::size_t& out, std::size_t least, std::size_t most);
// Parses a number of bytes, such as 67108864, 65536KiB or 64MiB.
std::string bytes(std::string_view text, std::size_t& out, std::size_t least, std::size_t most);
std::string span_of_time(std::string_view text, Duration& out);
std::string some_time(std::string_view text, Duration& out);
std::string yes_or_no(std::string_view text, bool& out);
// Parses hardware threads, such as "0,2-5". "all": every one that the process may use.
std::string cores(std::string_view text, std::vector<CoreId>& out);

}  // namespace corelane::parse
