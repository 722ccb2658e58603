#include "idl/sema/names/repository_ids.h"

#include <utility>

namespace corelane::idl {

void RepositoryIds::enter(SourceId file, const Symbol& symbol) {
  Frame inherited;
  inherited.symbol = &symbol;
  inherited.opener = file;
  inherited.by_file[file] = prefix(file);
  inherited.for_all = frames_.back().for_all;
  if (const std::string* own = type_prefix(symbol)) {
    inherited.by_file.clear();
    inherited.for_all = own;
  }
  frames_.push_back(std::move(inherited));
}

const std::string* RepositoryIds::type_prefix(const Symbol& symbol) const {
  const auto found = type_prefixes_.find(&symbol);
  return found == type_prefixes_.end() ? nullptr : &found->second;
}

void RepositoryIds::set_type_prefix(const Symbol& symbol, std::string prefix) {
  const std::string& kept = type_prefixes_[&symbol] = std::move(prefix);
  bool inside = false;
  for (Frame& frame : frames_) {
    inside = inside || frame.symbol == &symbol;
    if (!inside) continue;
    frame.by_file.clear();
    frame.for_all = &kept;
  }
}

RepositoryIds::Prefix RepositoryIds::prefix(SourceId file) const {
  const Frame& frame = frames_.back();
  auto found = frame.by_file.find(file);
  if (found == frame.by_file.end() && frame.symbol != nullptr) found = frame.by_file.find(frame.opener);
  if (found != frame.by_file.end()) return found->second;
  return frame.for_all != nullptr ? Prefix{*frame.for_all, 0} : Prefix();
}

std::string RepositoryIds::make(SourceId file, std::string_view scoped_name) const {
  const Prefix in_effect = prefix(file);
  return spell(in_effect.text, scoped_name.substr(in_effect.replaces));
}

std::string RepositoryIds::spell(std::string_view prefix, std::string_view scoped_name) {
  std::string id = "IDL:";
  if (!prefix.empty()) id.append(prefix).append("/");
  for (std::size_t i = 0; i < scoped_name.size(); ++i) {
    const bool separator = scoped_name.substr(i, 2) == "::";
    id += separator ? '/' : scoped_name[i];
    if (separator) ++i;
  }
  return id.append(":1.0");
}

}  // namespace corelane::idl
