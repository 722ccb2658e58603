#include "services/corelane/output/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace corelane::tool {

std::string fault_of_output_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::file_status found = fs::status(path, none);
  if (fs::is_directory(found)) return path + " is a folder; name a file";
  if (!fs::exists(found) && fs::is_symlink(fs::symlink_status(path, none)))
    return {};  // the file that the link names does not exist yet, and may be in another folder
  const bool is_direct = fs::exists(found) && !fs::is_regular_file(found);
  std::error_code unknown;
  const fs::path target = fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  if (unknown) return {};
  const std::string place = is_direct ? path : (target.parent_path() / "").string();  // ENOTDIR if it is a file
  if (::faccessat(AT_FDCWD, place.c_str(), is_direct ? W_OK : W_OK | X_OK, AT_EACCESS) == 0) return {};
  return path + " cannot be written: " + std::strerror(errno) +
         "; name a file in a directory that exists and that you may write to";
}

}  // namespace corelane::tool
