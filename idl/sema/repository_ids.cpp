#include "idl/sema/repository_ids.h"

#include <utility>

namespace corelane::idl {

void RepositoryIds::enter(SourceId file) {
  Frame inherited;
  inherited[file] = prefix(file);
  frames_.push_back(std::move(inherited));
}

RepositoryIds::Prefix RepositoryIds::prefix(SourceId file) const {
  const auto found = frames_.back().find(file);
  return found == frames_.back().end() ? Prefix() : found->second;
}

std::string RepositoryIds::make(SourceId file, std::string_view scoped_name) const {
  std::string id = "IDL:";
  const Prefix in_effect = prefix(file);
  if (!in_effect.text.empty()) id.append(in_effect.text).append("/");
  scoped_name.remove_prefix(in_effect.replaces);
  for (std::size_t i = 0; i < scoped_name.size(); ++i) {
    const bool separator = scoped_name.substr(i, 2) == "::";
    id += separator ? '/' : scoped_name[i];
    if (separator) ++i;
  }
  return id.append(":1.0");
}

}  // namespace corelane::idl
