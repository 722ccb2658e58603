#include "orb/os/directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace corelane::os {

std::string kind_of_file(unsigned mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a plain file";
    case S_IFDIR:
      return "a directory";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a fifo";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

Expected<void, std::string> make_directory(const std::string& path) {
  const int failure = mkdir(path.c_str(), 0777) == 0 ? 0 : errno;
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) {
    const int reason = failure == 0 || failure == EEXIST ? errno : failure;
    return path + " cannot be made: " + std::strerror(reason) +
           (reason == ENOENT ? "; make the directory above it, if the path is right" : "");
  }
  if (!S_ISDIR(found.st_mode)) return path + " is " + kind_of_file(found.st_mode) + ", no directory";
  if (found.st_uid != geteuid() && found.st_uid != 0)
    return path + " belongs to user " + std::to_string(found.st_uid) + ", neither to this user (" +
           std::to_string(geteuid()) + ") nor to root";
  return {};
}

}  // namespace corelane::os
