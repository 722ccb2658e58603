// RepositoryIds: prefixes in effect, and the ids they make. Section: CORBA 3.4 part 1, 14.7.5 (#pragma prefix holds
// from where it stands to the end of its scope; an included file starts without one and leaves none behind, unless it
// is included inside a scope, whose prefix it then shares), 7.15.2 (typeprefix holds in the whole of its scope and
// keeps the scope's name).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idl/ast/source.h"
#include "idl/sema/scope.h"

namespace corelane::idl {

class RepositoryIds {
 public:
  RepositoryIds() : frames_(1) {}

  // A scope (module, interface ...) opens and closes; `file` is where it is opened.
  void enter(SourceId file, const Symbol& symbol);
  void leave() { frames_.pop_back(); }

  // #pragma prefix in the current scope, whose scoped name is `scope`: it stands in place of that name, but for a file
  // that is included inside the scope: there it stands in front.
  void set_prefix(SourceId file, std::string prefix, std::string_view scope) {
    Frame& frame = frames_.back();
    const bool own = frame.symbol != nullptr && frame.opener == file;
    frame.by_file[file] = {std::move(prefix), own ? scope.size() + 2 : 0};
  }

  // typeprefix of that scope; null where none was given.
  const std::string* type_prefix(const Symbol& symbol) const;
  void set_type_prefix(const Symbol& symbol, std::string prefix);

  // "IDL:prefix/A/B:1.0" for "A::B" defined in `file` in the current scope.
  std::string make(SourceId file, std::string_view scoped_name) const;

  static std::string spell(std::string_view prefix, std::string_view scoped_name);

 private:
  struct Prefix {
    std::string text;
    std::size_t replaces = 0;  // bytes at the start of scoped names
  };
  struct Frame {
    const Symbol* symbol = nullptr;
    SourceId opener = SourceId::none;  // the file that opens the scope
    std::map<SourceId, Prefix> by_file;
    const std::string* for_all = nullptr;  // typeprefix, of this scope or one around it
  };

  Prefix prefix(SourceId file) const;

  std::vector<Frame> frames_;  // one for each open scope
  std::map<const Symbol*, std::string> type_prefixes_;
};

}  // namespace corelane::idl
