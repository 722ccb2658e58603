#include "services/corelane/reservation/reservation_client.h"

#include <unistd.h>

#include <cerrno>
#include <ostream>
#include <span>
#include <string_view>

#include "orb/core/connections/address.h"
#include "orb/giop/ior.h"
#include "orb/os/files/directory.h"
#include "services/corelane/host/host_files.h"
#include "services/corelane/host/listening.h"
#include "services/corelane/output/text.h"
#include "services/corelane/references/calling_orb.h"

namespace corelane::tool {
namespace {

namespace rs = Corelane::Reservation;

constexpr std::string_view object_key = "CorelaneReserved";

std::string start_text(const ReservationPlace& place) {
  return "start it as root: corelane-reserved" + place.start_options + " &" +
         (place.start_options.empty() ? " (or with systemd: systemctl start corelane-reserved)" : "") +
         ". It moves all other programs of this host off the cores that it gives; with -ORBReservedProcesses $$ it "
         "moves only those of this shell";
}

// For a runtime directory of another user, which this user may not read.
std::string hidden_text(const ReservationPlace& place) {
  for (const std::string& path : place.sockets)
    if (::access(path.c_str(), F_OK) != 0 && errno == EACCES)
      return "whether a reservation daemon listens at " + path + " cannot be seen: Permission denied" +
             os::ownership_text(path);
  return {};
}

// A daemon that was killed leaves its socket file behind, where no process listens.
std::string nobody_text(const ReservationPlace& place) {
  if (std::string hidden = hidden_text(place); !hidden.empty()) return hidden;
  std::string text = "no reservation daemon runs on this host (no process listens at ";
  for (const std::string& path : place.sockets) text += (path == place.sockets.front() ? "" : ", nor at ") + path;
  return text + "); " + start_text(place);
}

std::string reference_at(const std::string& socket) {
  giop::Ior ior;
  ior.profiles.push_back(core::profile_of({transport::unix_endpoint(socket)}, std::as_bytes(std::span(object_key))));
  return giop::to_string(ior);
}

const char* promise_text(rs::Guarantee promise) {
  switch (promise) {
    case rs::Guarantee::exclusive_cores:
      return "no other process runs there, except what the kernel binds to each core";
    case rs::Guarantee::affinity_only:
      return "the program is bound there, and others are moved away; they may come back, since nothing enforces it";
    case rs::Guarantee::thread_deadline:
      return "the budget in every period, before all other threads (SCHED_DEADLINE)";
    default:
      return "the budget in every period for all of its processes together, beside others who are held to theirs "
             "(control group)";
  }
}

std::string refusal_text(const rs::Refused& refused) {
  return refused.reason() + (refused.fits().empty() ? "" : "; what would fit: " + refused.fits());
}

}  // namespace

int with_reservations(const std::string& who, const ReservationPlace& place, std::ostream& err, int failed,
                      const std::function<int(const ReservationServer& server)>& work) {
  const auto complain = [&](const std::string& text) { return err << who << ": " << plain(text) << "\n", failed; };
  const Listening daemon = listening_at(place.sockets);
  if (!daemon.fault.empty())
    return complain(fault_text(daemon) +
                    "; its user or root can end it, or name another directory: --runtime-directory DIR");
  if (!daemon) return complain(nobody_text(place));
  if (daemon.stopped)
    return complain("the reservation daemon, " + stopped_text(daemon) + ": " + go_on_command(daemon) +
                    " lets it go on");
  try {
    const CallingOrb orb("corelane-reserve", place.orb_options);
    const auto server = IDL::traits<rs::Server>::narrow(orb->string_to_object(reference_at(daemon.at)));
    if (!server)
      return complain("the program that listens at " + daemon.at + " is no reservation daemon; " + start_text(place));
    return work(server);
  } catch (const rs::Refused& refused) {
    return complain(refusal_text(refused));
  } catch (const rs::Unknown&) {
    return complain("the reservation has ended meanwhile");
  } catch (const CORBA::TRANSIENT& exception) {
    return complain(std::string("the reservation daemon does not answer: ") + exception.what() + "; " +
                    start_text(place));
  } catch (const CORBA::TIMEOUT&) {
    return complain("the reservation daemon listens at " + daemon.at + ", but did not answer in time" +
                    (daemon.pid == 0 ? "" : "; what is process " + std::to_string(daemon.pid) + " busy with?"));
  } catch (const CORBA::Exception& exception) {
    return complain(exception.what());
  }
}

std::string cores_text(const rs::CoreList& cores) { return core_text(CoreSet(cores.begin(), cores.end())); }

std::string grant_text(const rs::Grant& grant) {
  std::string text =
      grant.cores().empty() ? "a share" : (grant.cores().size() == 1 ? "core " : "cores ") + cores_text(grant.cores());
  if (!grant.idle().empty()) text += " (" + cores_text(grant.idle()) + " kept idle beside)";
  return text + ": " + promise_text(grant.promise());
}

}  // namespace corelane::tool
