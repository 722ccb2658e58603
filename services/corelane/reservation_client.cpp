#include "services/corelane/reservation_client.h"

#include <ostream>

#include "orb/os/small_file.h"
#include "services/corelane/calling_orb.h"
#include "services/corelane/host_files.h"
#include "services/corelane/text.h"

namespace corelane::tool {
namespace {

namespace rs = Corelane::Reservation;

constexpr std::size_t longest_reference = 1 << 16;
constexpr const char* start_it =
    "start it as root: corelane-reserved & (or with systemd: systemctl start corelane-reserved)";

std::string read_daemon_reference(const std::vector<std::string>& files) {
  for (const std::string& file : files)
    if (const auto text = os::read_small_file(file, longest_reference)) return words_of(*text + " ").at(0);
  return {};
}

std::string nobody_text(const std::vector<std::string>& files) {
  std::string text = "no reservation daemon runs on this host (there is no ";
  for (const std::string& file : files) text += (file == files.front() ? "" : " and no ") + file;
  return text + "); " + start_it;
}

const char* promise_text(rs::Guarantee promise) {
  switch (promise) {
    case rs::Guarantee::exclusive_cores:
      return "nobody else runs there, but for what the kernel binds to each core";
    case rs::Guarantee::affinity_only:
      return "it is bound there, and others keep away as far as they are in the default set: nobody enforces it";
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

std::vector<std::string> reservation_files(const ReservationPlace& place) {
  const std::string roots = "/run/corelane", name = "/reserved.ior";
  std::vector<std::string> files{place.runtime_directory + name};
  if (!place.only_there && place.runtime_directory != roots) files.push_back(roots + name);
  return files;
}

int with_reservations(const std::string& who, const ReservationPlace& place, std::ostream& err, int failed,
                      const std::function<int(const ReservationServer& server)>& work) {
  const auto complain = [&](const std::string& text) { return err << who << ": " << plain(text) << "\n", failed; };
  const auto files = reservation_files(place);
  const std::string reference = read_daemon_reference(files);
  if (reference.empty()) return complain(nobody_text(files));
  try {
    const CallingOrb orb("corelane-reserve", place.orb_options);
    const auto server = IDL::traits<rs::Server>::narrow(orb->string_to_object(reference));
    if (!server) return complain("what " + files.front() + " names is no reservation daemon; " + start_it);
    return work(server);
  } catch (const rs::Refused& refused) {
    return complain(refusal_text(refused));
  } catch (const rs::Unknown&) {
    return complain("the reservation has ended meanwhile");
  } catch (const CORBA::TRANSIENT& exception) {
    return complain(std::string("the reservation daemon does not answer: ") + exception.what() + "; " + start_it);
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
