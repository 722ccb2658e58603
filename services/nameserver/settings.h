// The settings of a nameserver. See orb/base/settings/setting.h.
// Threads: values, and a constant table.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "orb/base/settings/setting.h"
#include "orb/base/time.h"
#include "orb/channel/access.h"

namespace corelane::nameserver {

struct NameserverSettings {
  std::string store;  // empty: a file, see naming.store
  bool move_aside_damaged = false;
  std::size_t names = 1'000'000;   // names that it holds
  std::size_t contexts = 100'000;  // besides the root
  std::size_t depth = 64;          // components of one name
  std::size_t name_length = 1024;  // bytes of an id or a kind
  std::size_t iterators = 1024;    // that exist at one time
  Duration iterator_age = std::chrono::minutes{5};
  std::size_t leases = 10'000;
  Duration longest_lease = std::chrono::hours{1};
  std::size_t watches = 1024;
  // Limits of each client. A client is a user of this host, or another host.
  std::size_t client_names = 10'000;
  std::size_t client_leases = 1000;
  std::size_t client_watches = 64;
  std::size_t client_iterators = 256;
  std::size_t reference_size = 16'384;  // bytes of a reference as text
  // Limits of calls into contexts of other servers.
  std::size_t foreign_calls = 16;  // calls at one time
  Duration foreign_time = std::chrono::seconds{3};
  channel::Access writers{};  // the users who may change names, besides root and the user of the nameserver
  enum class Unknown : std::uint8_t { automatic, off, on };
  Unknown network_writers = Unknown::automatic;  // whether clients may change names whose user the kernel does not know
};

SettingsOf<NameserverSettings> nameserver_settings();

}  // namespace corelane::nameserver
