// FileLoader implements SourceLoader with the file system.
//
// Threads: one owner. Blocks on the disk.
// Invariant: each file has one path, the first by which it was named, even if several links lead to it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "idl/front/source_loader.h"

namespace corelane::idl::tool {

class FileLoader final : public SourceLoader {
 public:
  // `roots` are the directories of -I, searched in this order.
  explicit FileLoader(std::vector<std::filesystem::path> roots);

  std::variant<Located, LoadFailure> locate_main(const std::string& path) override;
  std::variant<Located, LoadFailure> locate_include(const std::string& name, bool angled,
                                                    const std::string& includer) override;
  std::variant<std::string, LoadFailure> read(const Located& file, std::size_t limit) override;

 private:
  Located located(const std::filesystem::path& path, const std::filesystem::path& fallback);

  std::vector<std::filesystem::path> roots_;
  std::vector<std::filesystem::path> canonical_roots_;
  std::map<std::filesystem::path, Located> known_;              // by canonical path
  std::map<std::string, std::filesystem::path> include_paths_;  // by Located::path
};

}  // namespace corelane::idl::tool
