// SourceLoader is the only way in which the compiler reads text. The tool implements it with the file system, tests
// with a map. idl/front and idl/sema do no other input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace corelane::idl {

struct Located {
  std::string path;          // one file always has the same path, however it was named
  std::string include_path;  // relative to its -I root, with '/'
};

// Why a text could not be read, as the end of a sentence: "no such file".
struct LoadFailure {
  std::string reason;
};

class SourceLoader {
 public:
  virtual ~SourceLoader() = default;

  // Finds the file to compile.
  virtual std::variant<Located, LoadFailure> locate_main(const std::string& path) = 0;

  // Finds the file of an #include in the file `includer` (a Located::path). "name" is searched in the folder of
  // `includer`, then in the directories of -I; <name> only in the latter. Fails if there is no such file.
  virtual std::variant<Located, LoadFailure> locate_include(const std::string& name, bool angled,
                                                            const std::string& includer) = 0;

  // Reads a located file. Fails if it has more than `limit` bytes.
  virtual std::variant<std::string, LoadFailure> read(const Located& file, std::size_t limit) = 0;
};

}  // namespace corelane::idl
