// Reservations as plain values: who holds one, what was asked for, and what was granted. No I/O.
// Threads: values.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/machine/host.h"

namespace corelane::reserved {

using ReservationId = Id<struct ReservationTag, std::uint64_t>;
inline constexpr ReservationId no_reservation{0};

using Process = os::ProcessIdentity;

enum class Extent : std::uint8_t { process, tree, thread };

struct Holder {
  Process process{};
  Extent extent = Extent::process;
  std::int32_t thread = 0;  // if extent is thread
  std::uint32_t user = 0;
  std::string program{};

  friend bool operator==(const Holder&, const Holder&) = default;
};

enum class Nearness : std::uint8_t { anywhere, near, one_cache, one_node };
// What happens to the other hardware threads of a physical core, see SiblingRule in reservation.idl.
enum class Siblings : std::uint8_t { idle, mine, others };

struct CoresWanted {
  int count = 0;                // hardware threads; 0: all of `these`
  std::vector<CoreId> these{};  // choose only from these; empty: from all
  Nearness nearness = Nearness::near;
  Siblings siblings = Siblings::idle;
};

struct ShareWanted {
  Duration budget{};
  Duration period{};
};

using Wanted = std::variant<CoresWanted, ShareWanted>;

// What a process or a process tree can reserve besides cores. The amount of memory is in bytes, of cache in ways; for
// the disk it is a weight. See ResourceWanted in reservation.idl.
enum class Resource : std::uint8_t { memory, cache, disk };
inline constexpr std::array all_resources{Resource::memory, Resource::cache, Resource::disk};
const char* name_of(Resource resource) noexcept;                          // "memory"
using ResourceAmounts = std::array<std::uint64_t, all_resources.size()>;  // indexed by Resource

struct ResourceWanted {
  Resource which = Resource::memory;
  std::uint64_t amount = 0;
  bool best_effort = false;  // accepts a host that promises no more than best effort

  friend bool operator==(const ResourceWanted&, const ResourceWanted&) = default;
};

struct Terms {
  Duration lease{};  // zero: ends with the process
  bool queues = false;
  std::string note{};
};

enum class Guarantee : std::uint8_t { exclusive_cores, affinity_only, thread_deadline, tree_bandwidth };

enum class RefusalKind : std::uint8_t {
  no_right,
  no_such_process,
  not_yours,
  bad_request,
  no_room,
  never_fits,
  system_refused
};

struct Refusal {
  RefusalKind kind = RefusalKind::no_room;
  std::string reason{};  // what is wrong, and how to fix it
  std::string fits{};    // what would be granted now; empty: nothing
};

// The cores on which a holder runs, and the cores that are kept empty for it. Ascending.
struct Place {
  std::vector<CoreId> cores{};
  std::vector<CoreId> idle{};

  friend bool operator==(const Place&, const Place&) = default;
};

struct Loan {
  Process service{};  // pid 0 and over: sum of the closed loans that have no entry of their own
  bool in_use = false;
  bool over = false;     // taken back, or the service has ended; the account keeps what it used
  ReservationId tree{};  // while in_use: the reservation of the service's process tree, see LoanUseBegan
  Duration used{};
  std::uint64_t times = 0;
};

struct Charge {
  Process client{};  // pid 0: sum of the clients that have no entry of their own
  Duration used{};
  std::uint64_t times = 0;
};

struct Account {
  ReservationId id{};
  bool waiting = false;
  Holder holder{};
  Wanted wanted{};
  Terms terms{};
  std::vector<ResourceWanted> also{};  // resources besides the cores; each resource at most once
  Place place{};
  Guarantee guarantee = Guarantee::exclusive_cores;
  Time since{};  // while waiting: when it was asked for; then: when it was granted
  Time lease_end = never;
  std::vector<Loan> loans{};
  std::vector<Charge> charges{};

  bool is_share() const noexcept { return std::holds_alternative<ShareWanted>(wanted); }
};

}  // namespace corelane::reserved
