#include "orb/os/files/directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "orb/os/peers/own_user.h"
#include "orb/os/peers/user_name.h"

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

namespace {

// Returns the chmod command for a file of this user that lacks permissions, or "".
std::string mode_text(const std::string& path, mode_t mode) {
  const mode_t needed = S_ISDIR(mode) ? S_IRWXU : S_IRUSR | S_IWUSR;
  return (mode & needed) == needed ? "" : std::string("; chmod u+rw") + (S_ISDIR(mode) ? "x " : " ") + path;
}

std::string remedy_text(uid_t owner) {
  return owner == 0 ? "; run this program as root" : "; as root, remove it if no program needs it";
}

}  // namespace

// Bound: the depth of the path.
std::string ownership_text(const std::string& path) {
  for (std::filesystem::path at = path; !at.empty() && at != at.root_path(); at = at.parent_path()) {
    struct stat found {};
    if (lstat(at.c_str(), &found) != 0) continue;
    if (is_own_user(found.st_uid)) return mode_text(at, found.st_mode);
    if (S_ISDIR(found.st_mode) && faccessat(AT_FDCWD, at.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
    return "; " + at.string() + " belongs to user " + name_of_user(found.st_uid) + ", and this is user " +
           name_of_user(geteuid()) + remedy_text(found.st_uid);
  }
  return {};
}

Expected<void, std::string> make_directory(const std::string& path) {
  const int failure = mkdir(path.c_str(), 0777) == 0 ? 0 : errno;
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) {
    const int reason = failure == 0 || failure == EEXIST ? errno : failure;
    return path + " cannot be made: " + std::strerror(reason) +
           (reason == ENOENT ? "; make the directory above it, if the path is right" : ownership_text(path));
  }
  if (!S_ISDIR(found.st_mode)) return path + " is " + kind_of_file(found.st_mode) + ", no directory";
  if (found.st_uid != geteuid() && found.st_uid != 0)
    return path + " belongs to user " + name_of_user(found.st_uid) + ", neither to this user (" +
           name_of_user(geteuid()) + ") nor to root" + remedy_text(found.st_uid);
  return {};
}

}  // namespace corelane::os
