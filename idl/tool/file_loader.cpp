#include "idl/tool/file_loader.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "idl/tool/user_file.h"

namespace corelane::idl::tool {
namespace {

namespace fs = std::filesystem;

fs::path real_path(const fs::path& path) {
  std::error_code fault;
  fs::path result = fs::weakly_canonical(path, fault);
  return fault ? path.lexically_normal() : result;
}

// Returns `file` relative to `root`; nothing if it is not inside `root`.
std::optional<fs::path> inside(const fs::path& file, const fs::path& root) {
  const fs::path relative = file.lexically_relative(root);
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative;
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
  // The innermost root gives the shortest path.
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
  if (const PathLook look = look_at(path); look.kind != PathKind::file) return LoadFailure{reason_of(look)};
  return located(path, fs::path(path).filename());
}

std::variant<Located, LoadFailure> FileLoader::locate_include(const std::string& name, bool angled,
                                                              const std::string& includer) {
  PathLook best;  // of a path that has the name but is not a regular file
  const auto is_file = [&](const fs::path& path) {
    const PathLook look = look_at(path);
    if (best.is_absent()) best = look;
    return look.kind == PathKind::file;
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
  if (best.kind == PathKind::missing && roots_.empty() && angled)
    return LoadFailure{"no such file (no -I gives a directory to search)"};
  return LoadFailure{reason_of(best)};
}

std::variant<std::string, LoadFailure> FileLoader::read(const Located& file, std::size_t limit) {
  auto text = read_user_file(file.path, limit);
  if (const auto* fault = std::get_if<ReadFault>(&text)) return LoadFailure{fault->reason};
  return std::get<std::string>(std::move(text));
}

}  // namespace corelane::idl::tool
