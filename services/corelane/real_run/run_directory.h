// RunDirectory is a directory for one run, which is removed with its content.
// Threads: one.
#pragma once

#include <filesystem>
#include <string>

namespace corelane::tool {

class RunDirectory {
 public:
  // Makes a directory in `parent`, which is TMPDIR or /tmp if none is given. Raises std::system_error if that fails.
  explicit RunDirectory(const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace corelane::tool
