#include "services/corelane/real_run/run_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

namespace corelane::tool {

RunDirectory::RunDirectory(const std::filesystem::path& parent) : path_((parent / "corelane-run-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(),
                            "no directory can be made in " + parent.string() + "; set TMPDIR to one that is writable");
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace corelane::tool
