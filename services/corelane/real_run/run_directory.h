// RunDirectory is a directory for one run, which is removed with its content. It is below TMPDIR, or /tmp.
// Threads: one.
#pragma once

#include <string>

namespace corelane::tool {

class RunDirectory {
 public:
  RunDirectory();  // raises std::system_error if the directory cannot be made
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace corelane::tool
