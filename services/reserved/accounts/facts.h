// What the accounts are told, and what they want done. See accounts.h.
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
// What the host has besides cores. Once, before it is asked for.
struct Offered {
  std::vector<ResourceOffer> offers;
};
struct Renewed {
  Time at;
  ReservationId id;
  Duration lease;  // zero: to the end of the process
};
struct Released {
  Time at;
  ReservationId id;
};
// The process has ended. What is for its tree stays until Released: others of it may live.
struct Died {
  Time at;
  Process process;
  Duration used{};  // on the cores of a client where it worked, since it came
};
// What was commanded for it could not be done. It ends.
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
  Duration used;  // by a service that was there, since it came
};
struct CameIn {
  ReservationId id;
  Process service;
  ReservationId tree{};  // the nearest whose tree the service is in: it runs on those cores otherwise
};
struct Left {
  ReservationId id;
  Process service;
  Duration used;  // since it came
};
struct Charged {
  ReservationId id;
  Process client;
  Duration used;
};
// What the facts before commanded has been done; of sets that were removed the kernel gives these cores to no other set
// yet, since a process that takes long to end is there, or they are switched off. Ascending. And so much it has not
// taken back yet of what reservations had that ended.
struct Held {
  Time at;
  std::vector<CoreId> cores;
  ResourceAmounts resources{};
};
using Fact =
    std::variant<Asked, Renewed, Released, Died, Failed, Ticked, Lent, TakenBack, CameIn, Left, Charged, Held, Offered>;

// A set of cores whose members run there and nowhere else: "r17" of reservation 17, "s3" of those who share core 3.
using SetName = std::string;

// The default set has these cores from now on. Comes before the sets that take from it, and after those that give back.
struct SetCommon {
  std::vector<CoreId> cores;
};
struct MakeSet {
  SetName set;
  Place place;
  ReservationId id;  // for which it is made
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
// A service comes into the set, and goes back to the cores of `home`: its own reservation, or that of its tree. None:
// to where it was before it ever came into a set.
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
// Answers to Asked; the first two to what waited, too, and Refused to Lent.
struct Granted {
  ReservationId id;
};
struct Queued {
  ReservationId id;
};
struct Refused {
  Refusal why;
};
// The lease of a reservation ended.
struct LeaseOver {
  ReservationId id;
};
using Command =
    std::variant<SetCommon, MakeSet, RemoveSet, Enter, Exit, Join, Part, Granted, Queued, Refused, LeaseOver>;
using Commands = std::vector<Command>;

}  // namespace corelane::reserved
