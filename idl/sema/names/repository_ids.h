// RepositoryIds keeps the prefixes in effect, and makes repository ids. Section: CORBA 3.4 part 1, 14.7.5 and 7.15.2.
// - #pragma prefix holds from its line to the end of its scope. An included file starts without a prefix and leaves
//   none behind. If it is included inside a scope, it shares that scope's prefix.
// - typeprefix holds in its whole scope and keeps the scope's name.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idl/ast/source.h"
#include "idl/sema/names/scope.h"

namespace corelane::idl {

class RepositoryIds {
 public:
  RepositoryIds() : frames_(1) {}

  // Call these when a scope (module, interface, ...) opens and closes. `file` is the file that opens it.
  void enter(SourceId file, const Symbol& symbol);
  void leave() { frames_.pop_back(); }

  // Sets the #pragma prefix of the current scope, whose scoped name is `scope`. The prefix replaces that name in ids.
  // In a file that is included inside the scope, it is put before the name instead.
  void set_prefix(SourceId file, std::string prefix, std::string_view scope) {
    Frame& frame = frames_.back();
    const bool own = frame.symbol != nullptr && frame.opener == file;
    frame.by_file[file] = {std::move(prefix), own ? scope.size() + 2 : 0};
  }

  // Returns the typeprefix of that scope; null if it has none.
  const std::string* type_prefix(const Symbol& symbol) const;
  void set_type_prefix(const Symbol& symbol, std::string prefix);

  // Returns "IDL:prefix/A/B:1.0" for "A::B", which `file` defines in the current scope.
  std::string make(SourceId file, std::string_view scoped_name) const;

  static std::string spell(std::string_view prefix, std::string_view scoped_name);

 private:
  struct Prefix {
    std::string text;
    std::size_t replaces = 0;  // length of the part of scoped names that it replaces, in bytes
  };
  struct Frame {
    const Symbol* symbol = nullptr;
    SourceId opener = SourceId::none;  // the file that opens the scope
    std::map<SourceId, Prefix> by_file;
    const std::string* for_all = nullptr;  // typeprefix of this scope or of a scope around it
  };

  Prefix prefix(SourceId file) const;

  std::vector<Frame> frames_;  // one per open scope
  std::map<const Symbol*, std::string> type_prefixes_;
};

}  // namespace corelane::idl
