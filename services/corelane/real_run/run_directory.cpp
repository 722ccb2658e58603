#include "services/corelane/real_run/run_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace corelane::tool {

RunDirectory::RunDirectory() : path_((std::filesystem::temp_directory_path() / "corelane-run-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(),
                            "no directory can be made for the run (" + path_ + "); set TMPDIR to one that is writable");
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace corelane::tool
