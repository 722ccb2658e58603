// WritableHandler and EndHandler wait on the reactor for the descriptors that a link has besides those of its bytes:
// for room, and for the end.
//
// Threads: the reactor's.
#pragma once

#include <memory>
#include <utility>

#include "orb/transport/detail/link.h"
#include "orb/transport/detail/reactor_impl.h"

namespace corelane::transport {

// WritableHandler is for a link with a descriptor for room. If that is readable, the connection is writable.
class WritableHandler final : public ReadinessHandler {
 public:
  explicit WritableHandler(std::shared_ptr<ReadinessHandler> connection) : connection_(std::move(connection)) {}
  void on_readable() noexcept override { connection_->on_writable(); }
  void on_writable() noexcept override {}
  void on_stopping() noexcept override { connection_->on_stopping(); }

 private:
  const std::shared_ptr<ReadinessHandler> connection_;
};

// EndHandler is for a link with a descriptor for the end. If that is readable, a read after the last bytes finds the
// end. It sets `told`, which belongs to the connection, for the reader: make_readable() may be used up by bytes that
// were still there.
class EndHandler final : public ReadinessHandler {
 public:
  EndHandler(std::shared_ptr<ReadinessHandler> connection, Link& link, bool& told)
      : connection_(std::move(connection)), link_(link), told_(told) {}
  void on_readable() noexcept override {
    told_ = true;
    link_.make_readable();
  }
  void on_writable() noexcept override {}
  void on_stopping() noexcept override { connection_->on_stopping(); }

 private:
  const std::shared_ptr<ReadinessHandler> connection_;
  Link& link_;  // the connection's
  bool& told_;
};

}  // namespace corelane::transport
