#include "orb/transport/stream/stream_receiver.h"

#include "orb/base/errors.h"

namespace corelane::transport {

Error StreamReceiver::why_not_received(Io outcome) noexcept {
  if (!sender_.is_open()) return sender_.reason();
  if (outcome == Io::failed) return sender_.close_for(link_.failure());
  return errors::deadline_passed;
}

}  // namespace corelane::transport
