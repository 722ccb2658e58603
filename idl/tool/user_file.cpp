#include "idl/tool/user_file.h"

#include <fstream>
#include <vector>

namespace corelane::idl::tool {

namespace fs = std::filesystem;

PathLook look_at(const fs::path& path) {
  PathLook look;
  const fs::file_status status = fs::status(path, look.fault);
  if (fs::is_regular_file(status))
    look.kind = PathKind::file;
  else if (fs::is_directory(status))
    look.kind = PathKind::directory;
  else if (fs::exists(status))
    look.kind = PathKind::other;
  return look;
}

bool PathLook::is_absent() const noexcept {
  return kind == PathKind::missing && (!fault || fault == std::errc::no_such_file_or_directory);
}

std::string reason_of(const PathLook& look) {
  if (look.kind == PathKind::directory) return "it is a directory";
  if (look.kind == PathKind::other) return "it is not a regular file";
  return look.is_absent() ? "no such file" : look.fault.message();
}

std::variant<std::string, ReadFault> read_user_file(const std::string& path, std::size_t limit) {
  if (const PathLook look = look_at(path); look.kind != PathKind::file) return ReadFault{reason_of(look)};
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return ReadFault{"it cannot be opened"};
  std::string text;
  std::vector<char> block(64 * 1024);
  // bound: limit / block size
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())) || stream.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > limit) return ReadFault{"it is larger than " + std::to_string(limit >> 20) + " MiB"};
  }
  if (stream.bad()) return ReadFault{"reading it failed"};
  return text;
}

}  // namespace corelane::idl::tool
