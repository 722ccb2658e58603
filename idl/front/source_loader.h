// SourceLoader: the only way by which the compiler reads text. The tool implements it over the file system, tests over
// a map; nothing in idl/front or idl/sema does input of its own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace corelane::idl {

struct Located {
  std::string path;          // the same file always has the same path, whatever way it was named
  std::string include_path;  // relative to its -I root, with '/'
};

// Why a text could not be had, as the end of a sentence: "no such file".
struct LoadFailure {
  std::string reason;
};

class SourceLoader {
 public:
  virtual ~SourceLoader() = default;

  // Finds the file that is to be compiled.
  virtual std::variant<Located, LoadFailure> locate_main(const std::string& path) = 0;

  // Finds the file of an #include in the file `includer` (a Located::path): "name" beside it first, then the
  // directories of -I; <name> only those. Failure when there is none.
  virtual std::variant<Located, LoadFailure> locate_include(const std::string& name, bool angled,
                                                            const std::string& includer) = 0;

  // The bytes of a located file, which hold at most `limit`.
  virtual std::variant<std::string, LoadFailure> read(const Located& file, std::size_t limit) = 0;
};

}  // namespace corelane::idl
