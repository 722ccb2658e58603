// LinkReadiness waits on the reactor for the descriptors from which a link is read: that of its bytes, that of its end,
// and that of the peer's end while no thread reads.
// Thread: the reactor's.
#pragma once

#include <memory>

#include "orb/transport/detail/link.h"
#include "orb/transport/detail/reactor_impl.h"

namespace corelane::transport {

class LinkReadiness {
 public:
  using Handler = std::weak_ptr<ReadinessHandler>;

  LinkReadiness(Link& link, Reactor::Impl& reactor) noexcept : link_(link), reactor_(reactor) {}

  // Watches the descriptors of the bytes and of the link's end. Returns false if the system refuses.
  bool watch(const Handler& handler);
  // Makes the reactor report the peer's end by on_hang_up(). Returns false if the system refuses.
  bool watch_peer_end(const Handler& handler);
  // Makes on_readable() be called once when there is something to read. Call it after watch().
  void arm_read(Readiness::Rest rest = Readiness::Rest::unknown);
  // Notes that on_readable() was called, or will be called without another readiness.
  void set_armed(bool armed) noexcept { armed_ = armed; }
  // Returns the descriptor of the bytes, for arming it to write; null if it is not watched.
  Readiness* bytes() const noexcept { return bytes_.get(); }
  // Watches nothing any more. Returns whether it did.
  bool release() noexcept;

 private:
  Link& link_;
  Reactor::Impl& reactor_;
  std::unique_ptr<Readiness> bytes_;
  std::unique_ptr<Readiness> end_;      // of a link that has a descriptor for the end
  std::unique_ptr<Readiness> hang_up_;  // of a link that reports the peer's end by a descriptor of its own
  bool end_told_ = false;               // the link's end was reported; reads continue until they find it
  bool armed_ = false;
};

}  // namespace corelane::transport
