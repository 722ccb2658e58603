// ServerServant is the servant of Corelane::Naming::Server, which covers the whole nameserver: leases, changes and
// status.
//
// Threads: any, several at a time.
#pragma once

#include <functional>
#include <string>

#include "CorelaneNamingS.h"
#include "orb/os/process/process_watch.h"
#include "services/nameserver/change_log.h"
#include "services/nameserver/iterators.h"
#include "services/nameserver/leases.h"
#include "services/nameserver/watches.h"

namespace corelane::nameserver {

// The parts of the nameserver that the servant uses. The nameserver outlives the servant.
struct ServerParts {
  Store& store;
  Leases& leases;
  os::ProcessWatch& processes;
  ChangeLog& log;
  Watches& watches;
  const Iterators& iterators;
  const Writers& writers;
};

class ServerServant final : public virtual CORBA::servant_traits<Corelane::Naming::Server>::base_type {
 public:
  explicit ServerServant(const ServerParts& parts) : parts_(parts) {}

  Corelane::Naming::LeaseId lease_of(const Corelane::Naming::Process& owner) override;
  Corelane::Naming::LeaseId lease_for(std::uint32_t& milliseconds) override;
  void renew(Corelane::Naming::LeaseId lease) override;
  void end(Corelane::Naming::LeaseId lease) override;

  Corelane::Naming::WatchId watch(const std::string& pattern,
                                  CORBA::object_reference<Corelane::Naming::Listener> hears) override;
  void unwatch(Corelane::Naming::WatchId id) override;
  Corelane::Naming::ChangeList changes(const std::string& pattern, std::uint64_t& since, bool& lost) override;

  Corelane::Naming::Status state() override;

 private:
  const ServerParts parts_;
};

}  // namespace corelane::nameserver
