// Output: writes a set of files so that either all of them are there, whole, or none is touched.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace corelane::idl::tool {

struct TargetFile {
  std::filesystem::path path;
  std::string text;
};

// Makes the folders, writes every file beside its place, then moves all into place. Returns why it failed, as a
// sentence; then no file has changed, unless a move itself failed.
std::optional<std::string> write_all(const std::vector<TargetFile>& files);

// A rule of make: every target depends on every file.
std::string depfile_text(const std::vector<std::filesystem::path>& targets, const std::vector<std::string>& depends_on);

}  // namespace corelane::idl::tool
