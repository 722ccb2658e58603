#include "orb/os/files/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <system_error>

#include "orb/os/fd.h"

namespace corelane::os {
namespace {

FileFault fault(const std::string& path, const std::string& what) { return {path + " " + what}; }

FileFault system_fault(const std::string& path) {
  if (errno == ENOENT) return fault(path, "does not exist");
  return fault(path, std::string("cannot be read: ") + std::strerror(errno));
}

FileFault write_fault(const std::string& path) {
  return fault(path, std::string("cannot be written: ") + std::strerror(errno));
}

// Makes a new file or fails: it never writes to a link or file that is already there.
Fd made_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return Fd();
  return Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
}

// Returns why a file of this kind is not replaced; "" if it is a regular file or a link.
std::string fault_of_kind(mode_t mode) {
  if (S_ISREG(mode) || S_ISLNK(mode)) return "";
  return S_ISDIR(mode) ? "is a folder; name a file" : "is no plain file and is not replaced; name another file";
}

// Returns the file that a symbolic link leads to, even if that file does not exist yet. Returns a link if it leads in a
// circle, or is a link of /proc to a file without a name.
std::string target_of_link(const std::string& path) {
  constexpr int most_links = 40;  // as the kernel
  std::error_code fault;
  std::filesystem::path target(path);
  for (int links = 0; links < most_links && std::filesystem::is_symlink(target, fault); ++links) {
    const auto next = target.parent_path() / std::filesystem::read_symlink(target, fault);
    if (fault || (std::filesystem::exists(target, fault) && !std::filesystem::exists(next, fault))) break;
    target = next;
  }
  return target.string();
}

Expected<void, FileFault> write_straight(const std::string& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file || !write_all(file.get(), text)) return write_fault(path);
  return {};
}

}  // namespace

Expected<std::string, FileFault> read_small_file(const std::string& path, std::size_t limit) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));  // opening a pipe must not block
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) return system_fault(path);
  if (S_ISDIR(found.st_mode)) return fault(path, "is a folder");
  if (!S_ISREG(found.st_mode)) return fault(path, "is no plain file");
  std::string text;
  char part[16 * 1024];
  for (;;) {  // bound: the limit
    const ssize_t got = ::read(file.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_fault(path);
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > limit) return fault(path, "is longer than " + std::to_string(limit) + " bytes");
  }
}

Expected<void, FileFault> write_small_file(const std::string& path, std::string_view text, mode_t mode) {
  struct stat before {};
  const bool is_there = ::stat(path.c_str(), &before) == 0 || ::lstat(path.c_str(), &before) == 0;
  if (is_there)
    if (const std::string bad = fault_of_kind(before.st_mode); !bad.empty()) return fault(path, bad);
  const std::string beside = path + ".new";
  const Fd file = made_file(beside);
  if (!file) return write_fault(beside);
  const bool whole = write_all(file.get(), text) && (mode == 0 || ::fchmod(file.get(), mode) == 0);
  if (whole && ::rename(beside.c_str(), path.c_str()) == 0) return {};
  const FileFault why = write_fault(path);
  ::unlink(beside.c_str());
  return why;
}

Expected<void, FileFault> write_output_file(const std::string& path, std::string_view text) {
  struct stat before {};
  const bool is_there = ::stat(path.c_str(), &before) == 0;
  if (is_there && (S_ISCHR(before.st_mode) || S_ISFIFO(before.st_mode))) return write_straight(path, text);
  const std::string target = target_of_link(path);
  if (std::error_code none; std::filesystem::is_symlink(target, none))
    return fault(path, "is a link that leads to no file with a name; name another file");
  if (auto written = write_small_file(target, text, is_there ? before.st_mode & 07777 : 0); !written) return written;
  const bool is_foreign = is_there && (before.st_uid != ::geteuid() || before.st_gid != ::getegid());
  if (is_foreign && ::lchown(target.c_str(), before.st_uid, before.st_gid) != 0) return {};  // it is this user's now
  return {};
}

bool write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {  // bound: the text
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace corelane::os
