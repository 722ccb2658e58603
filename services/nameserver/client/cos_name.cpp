#include "services/nameserver/client/cos_name.h"

namespace corelane::naming {

CosNaming::Name cos_name_of(const giop::Name& name) {
  CosNaming::Name result;
  result.reserve(name.size());
  for (const giop::NameComponent& component : name) result.emplace_back(component.id, component.kind);
  return result;
}

giop::Name name_of(const CosNaming::Name& name) {
  giop::Name result;
  result.reserve(name.size());
  for (const CosNaming::NameComponent& component : name) result.push_back({component.id(), component.kind()});
  return result;
}

}  // namespace corelane::naming
