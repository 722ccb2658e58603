#include "orb/channel/fault.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace corelane::channel {

std::string_view text_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::would_block:
      return "nothing to read, or no room to write; wait or try again";
    case Fault::timed_out:
      return "the deadline passed";
    case Fault::too_long:
      return "the message fits neither the ring nor the chunks, or not the buffer; make them larger or send less at "
             "once";
    case Fault::peer_closed:
      return "the peer closed the channel";
    case Fault::peer_died:
      return "the peer's process ended without closing the channel; connect again";
    case Fault::spoiled:
      return "the peer wrote invalid data into the channel; its program is at fault; close the channel";
    case Fault::closed_here:
      return "this process closed the channel";
  }
  return "";
}

SetupFault system_fault(std::string_view what, int number, std::string_view remedy) {
  const bool denied = number == EACCES || number == EPERM;
  return {denied ? SetupFault::Kind::denied : SetupFault::Kind::system,
          std::string(what) + ": " + std::generic_category().message(number) + "; " + std::string(remedy), number};
}

SetupFault no_descriptor(std::string_view call, int number) {
  const std::string whose = " of process " + std::to_string(getpid());
  if (number == ENFILE) return system_fault(call, number, "raise fs.file-max of this host (sysctl -w)");
  if (number == EMFILE) return system_fault(call, number, "raise ulimit -n" + whose);
  if (number == ENOMEM)
    return system_fault(call, number, "raise the limits of memory" + whose + " (ulimit, control group)");
  return system_fault(call, number,
                      "channels need it, and a sandbox or an old kernel may refuse it: use a socket instead here");
}

}  // namespace corelane::channel
