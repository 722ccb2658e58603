// Where names stand in etcd. Below a prefix, by default /corelane/names/:
//
//   format                    1, the version of all this
//   next                      the number of the next context, decimal
//   room                      nothing; who binds one of the last names that there is room for changes it, too
//   context/CCCC              a context that there is, but for the root; no value
//   name/CCCC/ID|KIND         what is bound in context CCCC: JSON {"type", "reference", "context", "owner", "host",
//   "by"}
//
// CCCC is a context's number, 16 hexadecimal digits. ID, KIND, reference, owner, host and by (the client that bound the
// name; older nameservers write none) are escaped as in corbaloc: references (%xx), so that they are printable, and
// without '|'.
// Threads: none; values.
#pragma once

#include <optional>
#include <string>

#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

class EtcdKeys {
 public:
  explicit EtcdKeys(std::string prefix) : prefix_(std::move(prefix)) {}

  const std::string& prefix() const { return prefix_; }
  std::string format() const { return prefix_ + "format"; }
  std::string next() const { return prefix_ + "next"; }
  std::string room() const { return prefix_ + "room"; }
  std::string context(ContextId context) const;
  std::string names_of(ContextId context) const;
  std::string name(ContextId context, const NameComponent& name) const;

  // What a key stands for; nothing for those of others.
  struct Place {
    ContextId context = root_context;
    std::optional<NameComponent> name;  // none: the context itself
  };
  std::optional<Place> place_of(const std::string& key) const;

 private:
  std::string prefix_;
};

// `host`: where the owner's end will be seen; empty: persistent.
std::string etcd_value_of(const Binding& binding, const std::string& host = {});
// Nothing when somebody else has written it.
std::optional<Binding> binding_in(const std::string& etcd_value);
// Empty where there is none.
std::string host_in(const std::string& etcd_value);

}  // namespace corelane::nameserver
