#include "services/nameserver/server_servant.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "orb/core/client/reference.h"
#include "orb/core/server/server.h"
#include "orb/os/clock.h"
#include "orb/os/files/small_file.h"
#include "orb/os/log.h"
#include "orb/os/machine/host.h"
#include "services/nameserver/clients.h"

namespace corelane::nameserver {
namespace {

namespace idl = Corelane::Naming;

constexpr std::size_t most_changes = 1000;  // in one reply
constexpr std::size_t longest_pattern = 4096;

void check_pattern(const std::string& pattern) {
  if (pattern.empty()) throw idl::Refused("the pattern is empty; ** stands for every name");
  if (pattern.size() > longest_pattern)
    throw idl::Refused("the pattern has more than " + std::to_string(longest_pattern) + " bytes");
}

// Returns the real user of a process. The owner of /proc/<pid> would be wrong: it is root if the program has
// capabilities.
std::string user_of(std::int32_t process) {
  constexpr std::size_t longest_status = 16'384;
  const auto status = os::read_small_file("/proc/" + std::to_string(process) + "/status", longest_status);
  const std::size_t line = status ? status->find("\nUid:\t") : std::string::npos;
  if (line == std::string::npos) return {};
  const std::size_t begin = line + 6, end = status->find('\t', begin);
  return "user:" + status->substr(begin, end - begin);
}

// A client over TCP may name any process, because its user is not known.
bool may_tie_to(std::int32_t process, const Client& client) {
  if (!client.name.starts_with("user:") || client.process == process) return true;
  return std::ranges::count(privileged_clients(), client.name) > 0 || user_of(process) == client.name;
}

// Returns the listener for calls that have no more rights than its client: over the network, and at Unix sockets of the
// client's user. The client chooses where the reference leads, and the nameserver's user may be root.
Watches::Listener with_rights_of_client(const Watches::Listener& hears) {
  const auto& given = hears->_reference();
  if (core::calling_peer() == PeerId{0} || !given) return hears;
  const auto known = core::calling_credentials();
  const auto reach = known ? core::Reach::network_and_sockets_of(known->user) : core::Reach::network();
  auto reference = std::make_shared<core::Reference>(given->orb(), given->ior(), reach);
  if (reference->address() == nullptr)
    throw idl::Refused(
        "the nameserver calls a listener over the network, or at a Unix socket of the user that calls watch() over the "
        "nameserver's own Unix socket, and the listener's reference names neither; let its ORB listen at such a place");
  return core::make_stub<idl::Listener>(std::move(reference));
}

}  // namespace

idl::LeaseId ServerServant::lease_of(const idl::Process& owner) {
  parts_.writers.require();
  const os::HostIdentity& here = os::this_host();
  const std::string instead = "; take a lease that is renewed, with lease_for()";
  if (here.boot_id.empty() || owner.boot_id() != here.boot_id)
    throw idl::Refused("the process runs on another host than the nameserver" + instead);
  if (owner.pid_namespace() != here.pid_namespace)
    throw idl::Refused("the process is in another process namespace than the nameserver, which cannot see its end" +
                       instead);
  const os::ProcessIdentity process{owner.pid(), owner.started()};
  const Client client = calling_client();
  if (!may_tie_to(process.pid, client))
    throw idl::Refused("process " + std::to_string(process.pid) + " is not one of " + text_of_client(client.name) +
                       ", and a client ties names to its own user's processes alone" + instead);
  const auto granted = parts_.leases.grant(process, client);
  if (!granted) throw idl::Refused(granted.error());
  if (const auto watched = parts_.processes.add(process); !watched) {
    (void)parts_.leases.end(granted->id, client);
    throw idl::Refused("the end of the process cannot be seen: " + std::generic_category().message(watched.error()) +
                       "; raise LimitNOFILE of corelane-nameserver" + instead);
  }
  return granted->id;
}

idl::LeaseId ServerServant::lease_for(std::uint32_t& milliseconds) {
  parts_.writers.require();
  const auto granted = parts_.leases.grant(std::chrono::milliseconds{milliseconds}, calling_client(), os::now());
  if (!granted) throw idl::Refused(granted.error());
  milliseconds =
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(granted->lasts).count());
  parts_.processes.wake();  // the end of this lease may be the next event
  return granted->id;
}

void ServerServant::renew(idl::LeaseId lease) {
  if (!parts_.leases.renew(lease, calling_client(), os::now())) throw idl::UnknownLease();
}

void ServerServant::end(idl::LeaseId lease) {
  const Client client = calling_client();
  const auto owner = parts_.leases.owner_of(lease, client, os::now());
  if (!owner) throw idl::UnknownLease();
  // If the store does not answer, the housekeeper tries again. It then also removes names that were bound in between.
  if (const auto gone = parts_.store.remove_owned(*owner); !gone)
    os::log::debug("naming: the names of an ended lease go as soon as the store answers");
  if (parts_.leases.end(lease, client)) parts_.processes.wake();
}

idl::WatchId ServerServant::watch(const std::string& pattern, CORBA::object_reference<idl::Listener> hears) {
  check_pattern(pattern);
  if (!hears) throw idl::Refused("the listener is nil");
  const Client client = calling_client();
  const auto id = parts_.watches.add(pattern, with_rights_of_client(hears), client);
  if (!id) throw idl::Refused(id.error());
  // If its end cannot be watched, the listener is still checked from time to time.
  if (const auto process = client.process > 0 ? os::identity_of(client.process) : std::nullopt)
    (void)parts_.processes.add(*process);
  return *id;
}

void ServerServant::unwatch(idl::WatchId id) { parts_.watches.remove(id); }

idl::ChangeList ServerServant::changes(const std::string& pattern, std::uint64_t& since, bool& lost) {
  check_pattern(pattern);
  const auto reading = parts_.log.read(NamePattern(pattern), since, most_changes);
  since = reading.until;
  lost = reading.lost;
  idl::ChangeList list;
  for (const NamedChange& change : reading.changes) list.push_back(cos_change_of(change));
  return list;
}

idl::Status ServerServant::state() {
  const auto count = [](std::size_t size) { return static_cast<std::uint32_t>(size); };
  const StoreStatus store = parts_.store.status();
  return idl::Status(store.kind, store.place, store.stale, store.remark, count(parts_.leases.size()),
                     count(parts_.watches.size()), count(parts_.iterators.size()),
                     static_cast<std::uint64_t>(store.stale_for.count()), count(store.names), count(store.contexts));
}

}  // namespace corelane::nameserver
