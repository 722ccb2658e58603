// HostFiles reads what the kernel says of a host in /proc, /sys and /dev. It reads below a root directory, so that a
// test can provide an invented host.
// Threads: a value; reads files.
//
// The folder services/corelane/host finds what runs on this host: daemons, servers and their counter pages, and what
// the kernel says of it.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orb/os/machine/mounts.h"

namespace corelane::tool {

class HostFiles {
 public:
  explicit HostFiles(std::string root = "/") : root_(std::move(root)) {}

  // Returns the whole file, without the white space at its end. Returns nothing if the file does not exist or may not
  // be read.
  std::optional<std::string> text(std::string_view path) const;
  // Returns the same, or "" for nothing.
  std::string text_or_empty(std::string_view path) const { return text(path).value_or(""); }
  std::vector<std::string> lines(std::string_view path) const;
  // Returns the value of a line "Name: value", as in files of /proc. Returns nothing if no line begins so.
  std::optional<std::string> field(std::string_view path, std::string_view name) const;
  // Returns the mounts that this process sees.
  std::vector<os::Mount> mounts() const { return os::parse_mounts(text_or_empty("/proc/self/mountinfo")); }
  // Returns the names in a directory that begin with `prefix` and continue with a digit, ordered by their number.
  std::vector<std::string> numbered(std::string_view directory, std::string_view prefix) const;
  bool exists(std::string_view path) const;

 private:
  std::filesystem::path beneath(std::string_view path) const;

  std::string root_;
};

// Hardware threads, as the kernel lists them.
using CoreSet = std::set<int>;
// Parses "0-3,6". Returns an empty set if the text is not such a list.
CoreSet parse_core_set(std::string_view text);
std::string core_text(const CoreSet& cores);

std::vector<std::string> words_of(std::string_view line);
// Returns the number at the beginning of the text; 0 if there is none.
long long leading_number(std::string_view text);

}  // namespace corelane::tool
