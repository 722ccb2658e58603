// What the reactor waits for on behalf of a StreamConnection beside its bytes: descriptors of its link for room and for
// the end. Threads: the reactor's.
#pragma once

#include <memory>
#include <utility>

#include "orb/transport/detail/link.h"
#include "orb/transport/detail/reactor_impl.h"

namespace corelane::transport {

// Room has a descriptor of its own, whose being readable means that the connection is writable.
class RoomHandler final : public ReadinessHandler {
 public:
  explicit RoomHandler(std::shared_ptr<ReadinessHandler> connection) : connection_(std::move(connection)) {}
  void on_readable() noexcept override { connection_->on_writable(); }
  void on_writable() noexcept override {}
  void on_stopping() noexcept override { connection_->on_stopping(); }

 private:
  const std::shared_ptr<ReadinessHandler> connection_;
};

// So has the end, whose being readable means that a look behind the last bytes finds it. `told`, the connection's, says
// so to whoever reads: the nudge may be spent on bytes that were still there.
class EndHandler final : public ReadinessHandler {
 public:
  EndHandler(std::shared_ptr<ReadinessHandler> connection, Link& link, bool& told)
      : connection_(std::move(connection)), link_(link), told_(told) {}
  void on_readable() noexcept override {
    told_ = true;
    link_.nudge();
  }
  void on_writable() noexcept override {}
  void on_stopping() noexcept override { connection_->on_stopping(); }

 private:
  const std::shared_ptr<ReadinessHandler> connection_;
  Link& link_;  // the connection's
  bool& told_;
};

}  // namespace corelane::transport
