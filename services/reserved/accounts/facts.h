// The facts that Accounts (accounts.h) is told, and the commands that it returns.
// Threads: values.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "services/reserved/accounts/model.h"
#include "services/reserved/accounts/resource_book.h"

namespace corelane::reserved {

struct Asked {
  Time at;
  Holder holder;
  Wanted wanted;
  Terms terms;
  std::vector<ResourceWanted> also{};
};
// Lists the resources that the host has besides cores. Told once, before the first request.
struct Offered {
  std::vector<ResourceOffer> offers;
};
struct Renewed {
  Time at;
  ReservationId id;
  Duration lease;  // zero: until the process ends
};
struct Released {
  Time at;
  ReservationId id;
};
// The process has ended. A reservation of its process tree stays until Released, since other processes of the tree may
// live.
struct Died {
  Time at;
  Process process;
  Duration used{};  // execution time on a client's cores, since the process came to work there
};
// The backend could not execute a command for this reservation. The reservation ends.
struct Failed {
  Time at;
  ReservationId id;
};
struct Ticked {
  Time at;
};
struct Lent {
  ReservationId id;
  Process service;
};
struct TakenBack {
  ReservationId id;
  Process service;
  Duration used;  // by a service that was using the loan, since it came
};
struct LoanUseBegan {
  ReservationId id;
  Process service;
  // The innermost reservation whose process tree has the service. The service otherwise runs on its cores.
  ReservationId tree{};
};
struct LoanUseEnded {
  ReservationId id;
  Process service;
  Duration used;  // since the service came
};
struct Charged {
  ReservationId id;
  Process client;
  Duration used;
};
// The commands of the facts before have been executed. `cores` (ascending) belonged to sets that were removed. The
// kernel does not give them to another set yet, because a process there is slow to end or because they are switched
// off. `resources` is what the kernel has not yet taken back from reservations that ended.
struct NotFreedYet {
  Time at;
  std::vector<CoreId> cores;
  ResourceAmounts resources{};
};
using Fact = std::variant<Asked, Renewed, Released, Died, Failed, Ticked, Lent, TakenBack, LoanUseBegan, LoanUseEnded,
                          Charged, NotFreedYet, Offered>;

// Name of a set of cores. Members of a set run on its cores only. "r17" is the set of reservation 17, "s3" is that of
// the shares on core 3.
using SetName = std::string;

// The default set has these cores from now on. This command comes before new sets that take cores from it, and after
// removed sets that give cores back.
struct SetCommon {
  std::vector<CoreId> cores;
};
struct MakeSet {
  SetName set;
  Place place;
  ReservationId id;  // the reservation which needs the set
};
struct RemoveSet {
  SetName set;
};
struct Enter {
  ReservationId id;
  SetName set;
  Holder holder;
  std::optional<ShareWanted> share;
  std::vector<ResourceWanted> also{};
};
struct Exit {
  ReservationId id;
};
// Join moves a service into the set. Part moves it back to the cores of `home`, which is its own reservation or that of
// its process tree. If `home` is no_reservation, the service goes back to where it was before it first joined a set.
struct Join {
  ReservationId id;
  SetName set;
  Process service;
};
struct Part {
  ReservationId id;
  Process service;
  ReservationId home;
};
// Answers to Asked. A waiting reservation is later answered with Granted. Refused also answers Lent.
struct Granted {
  ReservationId id;
};
struct Queued {
  ReservationId id;
};
struct Refused {
  Refusal why;
};
// The lease of a reservation has ended.
struct LeaseOver {
  ReservationId id;
};
using Command =
    std::variant<SetCommon, MakeSet, RemoveSet, Enter, Exit, Join, Part, Granted, Queued, Refused, LeaseOver>;
using Commands = std::vector<Command>;

}  // namespace corelane::reserved
