// SendRoom: the room of a connection as a cdr::Writer takes it, so that a long message is written where it is sent
// from. Threads: one at a time.
#pragma once

#include <memory>
#include <utility>

#include "orb/cdr/writer.h"
#include "orb/transport/connection.h"

namespace corelane::transport {

class SendRoom final : public cdr::Room {
 public:
  // The connection outlives the marshalling; what was lent keeps it longer.
  void use(Connection& connection) noexcept { connection_ = &connection; }
  // What was not sent goes back.
  void release() noexcept {
    connection_ = nullptr;
    before_.reset();
    now_.reset();
  }

  MutableBytes lend(std::size_t bytes) noexcept override {
    auto berth = connection_ != nullptr ? connection_->berth(bytes) : nullptr;
    if (!berth) return {};
    before_ = std::exchange(now_, std::move(berth));
    return now_->bytes();
  }

 private:
  Connection* connection_ = nullptr;
  std::unique_ptr<Berth> before_, now_;  // the message still lies in the first when the second is lent
};

}  // namespace corelane::transport
