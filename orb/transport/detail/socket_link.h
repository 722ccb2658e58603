// SocketLink is a Link over one stream socket of any family. It uses what TCP and Unix sockets have of their own.
// Threads: as Link.
#pragma once

#include <optional>
#include <span>

#include "orb/os/fd.h"
#include "orb/os/wait/adaptive_spin.h"
#include "orb/transport/detail/link.h"
#include "orb/transport/detail/socket.h"

namespace corelane::transport {

class SocketLink final : public Link {
 public:
  // `fd` is connected and configured.
  explicit SocketLink(os::Fd fd);
  // Does not close descriptors that a peer sent and that were not taken; another thread does.
  ~SocketLink() override;

  IoResult receive_some(MutableBytes buffer, BorrowedBytes* borrowed) noexcept override;
  IoResult receive_until(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                         BorrowedBytes* borrowed) noexcept override;
  IoResult take(MutableBytes buffer, Time& arrived, BorrowedBytes* borrowed) noexcept override;
  IoResult send_some(std::span<const Bytes> parts) noexcept override;
  void shut() noexcept override;
  void finish_sending() noexcept override;
  bool has_arrived() const noexcept override;
  int descriptor() const noexcept override { return fd_.get(); }
  bool tells_of_more() const noexcept override;
  bool has_unread() noexcept override;
  Endpoint local() const override;
  Endpoint peer() const override;
  std::optional<PeerCredentials> credentials() const noexcept override { return credentials_; }
  std::vector<gid_t> groups() const override;

 private:
  bool is_unix() const noexcept;
  bool is_tcp() const noexcept;

  os::Fd fd_;  // constant until destruction
  const int family_;
  const Beside beside_;
  const std::optional<PeerCredentials> credentials_;
  // Owner: the reader.
  os::AdaptiveSpin learnt_;
  bool stamped_ = false;
};

}  // namespace corelane::transport
