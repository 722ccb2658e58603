// Output writes a set of files: either all of them are complete, or none is changed.
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

// Makes the folders, writes every file under a temporary name, and then renames all. On failure, returns the reason as
// a sentence. Then no file has changed, unless a rename itself failed.
std::optional<std::string> write_all(const std::vector<TargetFile>& files);

// Returns a make rule in which every target depends on every file.
std::string depfile_text(const std::vector<std::filesystem::path>& targets, const std::vector<std::string>& depends_on);

}  // namespace corelane::idl::tool
