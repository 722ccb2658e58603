#include "idl/tool/file_loader.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace corelane::idl::tool {
namespace {

namespace fs = std::filesystem;

fs::path real_path(const fs::path& path) {
  std::error_code fault;
  fs::path result = fs::weakly_canonical(path, fault);
  return fault ? path.lexically_normal() : result;
}

// `file` relative to `root`; nothing when it is not inside.
std::optional<fs::path> inside(const fs::path& file, const fs::path& root) {
  const fs::path relative = file.lexically_relative(root);
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative;
}

enum class PathKind { file, missing, directory, other };

PathKind kind_of(const fs::path& path) {
  std::error_code fault;
  const fs::file_status status = fs::status(path, fault);
  if (fs::is_regular_file(status)) return PathKind::file;
  if (fs::is_directory(status)) return PathKind::directory;
  return fs::exists(status) ? PathKind::other : PathKind::missing;
}

// Why what is no regular file cannot be read. Pipes and devices are refused: they may never end, or never begin.
std::string reason_of(PathKind kind) {
  if (kind == PathKind::directory) return "it is a directory";
  return kind == PathKind::other ? "it is not a regular file" : "no such file";
}

}  // namespace

FileLoader::FileLoader(std::vector<fs::path> roots) : roots_(std::move(roots)) {
  for (const fs::path& root : roots_) canonical_roots_.push_back(real_path(root));
}

Located FileLoader::located(const fs::path& path, const fs::path& fallback) {
  const fs::path real = real_path(path);
  const auto [entry, is_new] = known_.try_emplace(real);
  if (!is_new) return entry->second;
  fs::path include_path = fallback;
  bool found = false;
  // The deepest root gives the shortest path.
  for (const fs::path& root : canonical_roots_) {
    const auto relative = inside(real, root);
    if (!relative || (found && relative->native().size() >= include_path.native().size())) continue;
    include_path = *relative;
    found = true;
  }
  entry->second = {.path = path.generic_string(), .include_path = include_path.generic_string()};
  include_paths_[entry->second.path] = include_path;
  return entry->second;
}

std::variant<Located, LoadFailure> FileLoader::locate_main(const std::string& path) {
  if (const PathKind kind = kind_of(path); kind != PathKind::file) return LoadFailure{reason_of(kind)};
  return located(path, fs::path(path).filename());
}

std::variant<Located, LoadFailure> FileLoader::locate_include(const std::string& name, bool angled,
                                                              const std::string& includer) {
  PathKind best = PathKind::missing;  // of what has the name and is no file
  const auto is_file = [&](const fs::path& path) {
    const PathKind kind = kind_of(path);
    if (best == PathKind::missing) best = kind;
    return kind == PathKind::file;
  };
  if (fs::path(name).is_absolute()) {
    if (is_file(name)) return located(name, fs::path(name).filename());
    return LoadFailure{reason_of(best)};
  }
  if (!angled) {
    const fs::path beside = (fs::path(includer).parent_path() / name).lexically_normal();
    const fs::path relative = (include_paths_[includer].parent_path() / name).lexically_normal();
    const bool escapes = !relative.empty() && *relative.begin() == "..";
    if (is_file(beside)) return located(beside, escapes ? relative.filename() : relative);
  }
  for (const fs::path& root : roots_) {
    const fs::path candidate = (root / name).lexically_normal();
    if (is_file(candidate)) return located(candidate, fs::path(name).lexically_normal());
  }
  if (best == PathKind::missing && roots_.empty() && angled)
    return LoadFailure{"no such file (no -I gives a directory to search)"};
  return LoadFailure{reason_of(best)};
}

std::variant<std::string, LoadFailure> FileLoader::read(const Located& file, std::size_t limit) {
  std::ifstream stream(file.path, std::ios::binary);
  if (!stream) return LoadFailure{"it cannot be opened"};
  std::string text;
  std::vector<char> block(64 * 1024);
  // loop: at most limit / block turns
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())) || stream.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > limit) return LoadFailure{"it is larger than " + std::to_string(limit >> 20) + " MiB"};
  }
  if (stream.bad()) return LoadFailure{"reading it failed"};
  return text;
}

}  // namespace corelane::idl::tool
