// Fault and SetupFault say what went wrong with a channel. SetupFault is for set-up, and has a text for a human. Fault
// is for a channel in use, and is a value for the hot path.
// Threads: values; text_of() any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace corelane::channel {

enum class Fault : std::uint8_t {
  would_block,  // nothing to read, or no room; the channel goes on
  timed_out,    // the deadline passed; the channel goes on
  // `too_long`: longer than the ring or the chunks can ever carry, or than the caller's buffer; the channel goes on.
  too_long,
  peer_closed,  // the peer closed in good order, and everything that it wrote was read
  peer_died,    // the peer's process, or its last descriptor, is gone; everything that it had completed was read
  spoiled,      // the peer wrote what no correct end writes
  closed_here,  // close() was called on this end
};

// Returns what happened and what to do. The text has static storage.
std::string_view text_of(Fault fault) noexcept;

struct SetupFault {
  enum class Kind : std::uint8_t {
    system,  // the kernel lacks a feature, or gives no memory or descriptor
    denied,  // by an access list on either side, or by file permissions
    // `incompatible`: no common version, a feature that the other end lacks, or a way to wake that does not work here.
    incompatible,
    bad_peer,    // the other end sent what does not belong to a channel
    bad_option,  // an option of this end is out of range
    address,     // the path is not usable, or taken
    timed_out,
    refused,  // by the other end, which wrote the text
    stopped,  // by Listener::stop()
  };
  Kind kind = Kind::system;
  std::string text;  // what failed, where, and how to fix it
  int number = 0;    // errno, if the system refused something
};

// Makes the text "what: the system's words for errno; remedy".
SetupFault system_fault(std::string_view what, int number, std::string_view remedy);
// Makes the fault of a call that returned no descriptor, and without which there are no channels. The remedy follows
// from `number`.
SetupFault no_descriptor(std::string_view call, int number);

}  // namespace corelane::channel
