// What goes wrong with a channel: while it is set up (SetupFault, with a text for a human), and while it is used
// (Fault, a value for the hot path). Threads: values; text_of() any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace corelane::channel {

enum class Fault : std::uint8_t {
  would_block,  // nothing to read, or no room; not an end
  timed_out,    // the deadline passed; not an end
  too_long,     // longer than the ring or the chunks can ever carry, or than the caller's buffer; not an end
  peer_closed,  // the peer closed in good order, and everything that it wrote was read
  peer_died,    // the peer's process, or its last descriptor, is gone; everything that it had completed was read
  spoiled,      // the peer wrote what no correct end writes
  closed_here,  // close() was called on this end
};

// What happened and what to do. Static storage.
std::string_view text_of(Fault fault) noexcept;

struct SetupFault {
  enum class Kind : std::uint8_t {
    system,        // the kernel lacks a feature, or gives no memory or descriptor
    denied,        // by an access list, on either side, or by file permissions
    incompatible,  // no common version, a feature that the other end lacks, a way to wake that does not work here
    bad_peer,      // what came from the other end is not a channel's
    bad_option,    // an option of this end is out of range
    address,       // the path is not usable, or taken
    timed_out,
    refused,  // by the other end; the text is its own
    stopped,  // Listener::stop()
  };
  Kind kind = Kind::system;
  std::string text;  // what, where, and how to mend it
  int number = 0;    // errno, where the system refused something
};

// "what: the system's words for errno; remedy"
SetupFault system_fault(std::string_view what, int number, std::string_view remedy);
// Of a call without which there are no channels, and which gave no descriptor: what mends it follows from `number`.
SetupFault no_descriptor(std::string_view call, int number);

}  // namespace corelane::channel
