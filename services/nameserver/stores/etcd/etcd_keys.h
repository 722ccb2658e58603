// EtcdKeys builds the keys under which names are stored in etcd. Below a prefix, by default /corelane/names/:
//
//   format                    1, the version of this format
//   next                      the number of the next context, decimal
//   room                      empty; changed by every bind that takes one of the last free names
//   context/CCCC              a context that exists, other than the root; no value
//   name/CCCC/ID|KIND         what is bound in context CCCC: JSON {"type", "reference", "context", "owner", "host",
//                             "by"}
//
// CCCC is a context's number, 16 hexadecimal digits. "by" is the client that bound the name; older nameservers do not
// write it. ID, KIND, reference, owner, host and by are escaped as in corbaloc: references (%xx), so that they are
// printable and have no '|'.
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

  // What a key stands for. place_of() returns nothing for keys of other programs.
  struct Place {
    ContextId context = root_context;
    std::optional<NameComponent> name;  // none: the context itself
  };
  std::optional<Place> place_of(const std::string& key) const;

 private:
  std::string prefix_;
};

// `host` is where the owner's end will be noticed. Empty for a persistent binding.
std::string etcd_value_of(const Binding& binding, const std::string& host = {});
// Returns nothing if another program wrote the value.
std::optional<Binding> binding_in(const std::string& etcd_value);
// Returns "" if the value has no host.
std::string host_in(const std::string& etcd_value);

}  // namespace corelane::nameserver
