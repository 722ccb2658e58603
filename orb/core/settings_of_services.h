// SettingsOfServices holds the values of settings that orb/core does not know. All programs read the same configuration
// files, so each must understand the settings of every other one. The component that declares them names the struct:
//
//   const auto& settings = orb.settings().services.of<nameserver::NameserverSettings>();
//
// Threads: a value.
#pragma once

#include <any>
#include <map>
#include <typeindex>
#include <typeinfo>

namespace corelane::core {

class SettingsOfServices {
 public:
  // Returns the values of this type; defaults until they are set.
  template <typename Values>
  Values& of() {
    std::any& values = all_[typeid(Values)];
    if (!values.has_value()) values = Values{};
    return *std::any_cast<Values>(&values);
  }
  template <typename Values>
  const Values& of() const {
    static const Values defaults{};
    const auto found = all_.find(typeid(Values));
    return found == all_.end() ? defaults : *std::any_cast<Values>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> all_;
};

}  // namespace corelane::core
