// How a command finds the reservation daemon, and what the daemon's answers mean for people.
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
  std::vector<std::string> sockets{};      // where the daemon is looked for, in this order
  std::string start_options{};             // with which a daemon is found there: " -ORBRuntimeDirectory /x"
};

// Does `work` with the daemon, with an ORB that has ended when this returns. What it raises, and whatever keeps it from
// beginning, becomes a sentence on `err`, which begins with `who`; the result is then `failed`.
int with_reservations(const std::string& who, const ReservationPlace& place, std::ostream& err, int failed,
                      const std::function<int(const ReservationServer& server)>& work);

// "0-3,6"
std::string cores_text(const Corelane::Reservation::CoreList& cores);
// "cores 2-3, exclusive: ..."
std::string grant_text(const Corelane::Reservation::Grant& grant);

}  // namespace corelane::tool
