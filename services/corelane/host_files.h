// HostFiles: what the kernel says of a host in /proc, /sys and /dev, read beneath a root directory, so that tests give
// it a host that they made up.
// Threads: a value; reads files.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orb/os/mounts.h"

namespace corelane::tool {

class HostFiles {
 public:
  explicit HostFiles(std::string root = "/") : root_(std::move(root)) {}

  // All of a file, without the white space at its end. Nothing where it is not there or may not be read.
  std::optional<std::string> text(std::string_view path) const;
  // The same; "" for nothing.
  std::string text_or_empty(std::string_view path) const { return text(path).value_or(""); }
  std::vector<std::string> lines(std::string_view path) const;
  // The value of "Name: value", as files of /proc have it. Nothing where no line begins so.
  std::optional<std::string> field(std::string_view path, std::string_view name) const;
  // What is mounted where for this process.
  std::vector<os::Mount> mounts() const { return os::parse_mounts(text_or_empty("/proc/self/mountinfo")); }
  // The names in a directory that begin with `prefix` and go on with a digit, by their number.
  std::vector<std::string> numbered(std::string_view directory, std::string_view prefix) const;
  bool exists(std::string_view path) const;

 private:
  std::filesystem::path beneath(std::string_view path) const;

  std::string root_;
};

// Hardware threads as the kernel lists them.
using CoreSet = std::set<int>;
// "0-3,6". What is no such list is empty.
CoreSet parse_core_set(std::string_view text);
std::string core_text(const CoreSet& cores);

std::vector<std::string> words_of(std::string_view line);
// The number that the text begins with; 0: none.
long long leading_number(std::string_view text);

}  // namespace corelane::tool
