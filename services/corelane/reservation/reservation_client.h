// Functions with which a command finds the reservation daemon, and shows the daemon's answers to people.
// Threads: none of its own but the ORB's.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "reservationC.h"

namespace corelane::tool {

using ReservationServer = IDL::traits<Corelane::Reservation::Server>::ref_type;

struct ReservationPlace {
  std::vector<std::string> orb_options{};  // -ORB options with their values
  std::vector<std::string> sockets{};      // where to look for the daemon, in this order
  std::string start_options{};             // options that start a daemon there: " -ORBRuntimeDirectory /x"
};

// Calls `work` with the daemon. The ORB has ended when this returns. Exceptions of `work`, and faults before it starts,
// become a sentence on `err` that begins with `who`; the result is then `failed`.
int with_reservations(const std::string& who, const ReservationPlace& place, std::ostream& err, int failed,
                      const std::function<int(const ReservationServer& server)>& work);

// Returns cores as "0-3,6".
std::string cores_text(const Corelane::Reservation::CoreList& cores);
// Returns a grant as "cores 2-3, exclusive: ...".
std::string grant_text(const Corelane::Reservation::Grant& grant);

}  // namespace corelane::tool
