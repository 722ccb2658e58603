// Files that a user named. Refuses pipes and devices, since reading them may block or never end.
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
  std::error_code fault{};  // why it could not be examined: a cycle of symbolic links, no permission

  bool is_absent() const noexcept;  // no file has this name
};
PathLook look_at(const std::filesystem::path& path);

// Returns why a path that is no regular file cannot be read: "it is a directory".
std::string reason_of(const PathLook& look);

struct ReadFault {
  std::string reason;
};
// Reads the whole file. Fails if it has more than `limit` bytes.
std::variant<std::string, ReadFault> read_user_file(const std::string& path, std::size_t limit);

}  // namespace corelane::idl::tool
