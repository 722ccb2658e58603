// TempDirectory is a test's own directory, which is removed with its content. It is below TMPDIR. For root, whose tests
// become other users, it is below /tmp if other users cannot enter TMPDIR.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace corelane::testing {

class TempDirectory {
 public:
  TempDirectory() : path_((parent() / "corelane-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const noexcept { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::size_t entries() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  static std::filesystem::path parent() {
    const auto usual = std::filesystem::temp_directory_path();
    return ::geteuid() != 0 || others_may_enter(usual) ? usual : "/tmp";
  }
  static bool others_may_enter(const std::filesystem::path& directory) {
    namespace fs = std::filesystem;
    for (fs::path at = fs::canonical(directory);; at = at.parent_path()) {  // bound: the length of the path
      if ((fs::status(at).permissions() & fs::perms::others_exec) == fs::perms::none) return false;
      if (at == at.root_path()) return true;
    }
  }

  std::string path_;
};

}  // namespace corelane::testing
