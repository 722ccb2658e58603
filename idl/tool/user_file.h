// Files that a user named. Pipes and devices are refused: they may never end, or never begin.
// Threads: any; no state. Allocates.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <variant>

namespace corelane::idl::tool {

enum class PathKind { file, missing, directory, other };

struct PathLook {
  PathKind kind = PathKind::missing;
  std::error_code fault{};  // why it could not be looked at: symbolic links in a circle, no permission

  bool is_absent() const noexcept;  // nothing has the name
};
PathLook look_at(const std::filesystem::path& path);

// Why what is no regular file cannot be read: "it is a directory".
std::string reason_of(const PathLook& look);

struct ReadFault {
  std::string reason;
};
// The whole of it, at most `limit` bytes.
std::variant<std::string, ReadFault> read_user_file(const std::string& path, std::size_t limit);

}  // namespace corelane::idl::tool
