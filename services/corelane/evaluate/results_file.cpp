#include "services/corelane/evaluate/results_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "orb/os/files/small_file.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

constexpr std::size_t largest_results = std::size_t{1} << 30;  // bytes

// Returns " (process 1234)" if the kernel says which process has locked the file; "" otherwise.
std::string holder_of(const os::Fd& file) {
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return {};
  const std::string inode =
      format("%02x:%02x:%llu", major(found.st_dev), minor(found.st_dev), static_cast<unsigned long long>(found.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream fields(line);
    std::string number, kind, strength, access, process, locked;
    fields >> number >> kind >> strength >> access >> process >> locked;
    if (kind == "FLOCK" && locked == inode) return " (process " + process + ")";
  }
  return {};
}

// Opens the file, or makes it, and locks it. A file system without locks is no fault.
Expected<os::Fd, std::string> locked_file(const std::string& path) {
  os::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
  if (!file)
    return path + " cannot be written; name a file in a directory that you may write to, on a disk that is not full";
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return path + " is in use by another corelane eval" + holder_of(file) +
           "; wait until it ends, or name another file with --output";
  return file;
}

}  // namespace

Expected<ResultsFile, std::string> ResultsFile::open(const std::string& path, const eval::ResultsOrigin& origin,
                                                     const eval::SweptValues& swept, std::size_t cells) {
  ResultsFile results;
  auto file = locked_file(path);
  if (!file) return file.error();
  results.file_ = *std::move(file);
  const auto text = os::read_small_file(path, largest_results);
  if (!text) return text.error().text;
  auto parsed = eval::parse_results(*text, origin, cells);
  if (!parsed) return path + ": " + parsed.error().text;
  const std::string header = eval::results_header(swept);
  if (parsed->whole_lines > 0 && !text->starts_with(header))
    return path + ": its columns are not those of this scenario; move it away, or name another file with --output";
  const bool is_cut = parsed->whole_lines < text->size();
  results.earlier_ = std::move(parsed->results);
  if ((is_cut && ::ftruncate(results.file_.get(), static_cast<off_t>(parsed->whole_lines)) != 0) ||
      (parsed->whole_lines == 0 && !results.append(header)))
    return path + " cannot be written; name a file in a directory that you may write to, on a disk that is not full";
  return results;
}

bool ResultsFile::append(const std::string& lines) { return os::write_all(file_.get(), lines); }

}  // namespace corelane::tool
