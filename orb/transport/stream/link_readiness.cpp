#include "orb/transport/stream/link_readiness.h"

#include <utility>

#include "orb/transport/stream/link_handlers.h"

namespace corelane::transport {

bool LinkReadiness::watch(const Handler& handler) {
  if (!bytes_) bytes_ = reactor_.watch(link_.bytes_descriptor(), handler.lock());
  if (!end_ && link_.end_descriptor() >= 0) {
    end_ = reactor_.watch(link_.end_descriptor(), std::make_shared<EndHandler>(handler.lock(), link_, end_told_));
    if (!end_) return false;
    end_->arm_read();
  }
  return bytes_ != nullptr;
}

bool LinkReadiness::watch_peer_end(const Handler& handler) {
  constexpr auto end = Reactor::Impl::Interest::end;
  std::unique_ptr<Readiness>& told = link_.hang_up_descriptor() == link_.bytes_descriptor() ? bytes_ : hang_up_;
  if (!told) told = reactor_.watch(link_.hang_up_descriptor(), handler.lock(), end);
  return told != nullptr;
}

void LinkReadiness::arm_read(Readiness::Rest rest) {
  if (std::exchange(armed_, true)) return;
  if (!link_.await_bytes() || end_told_) link_.make_readable();
  bytes_->arm_read(rest);
}

bool LinkReadiness::release() noexcept {
  if (!bytes_ && !hang_up_) return false;
  bytes_.reset();
  hang_up_.reset();
  end_.reset();
  armed_ = false;
  return true;
}

}  // namespace corelane::transport
