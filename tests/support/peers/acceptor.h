// Acceptor is a server without an ORB: it accepts connections and hands them out.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/peers/bare_wire.h"

namespace corelane::testing {

class Acceptor {
 public:
  Acceptor() {
    listener_ = std::move(*wires_.tcp.listen({"127.0.0.1", 0}, [this](auto stream) {
      const std::lock_guard lock(mutex_);
      streams_.push_back(std::move(stream));
      changed_.notify_all();
    }));
  }
  ~Acceptor() { listener_->stop(); }
  Wire next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !streams_.empty(); });
    Wire wire(std::move(streams_.front()));
    streams_.erase(streams_.begin());
    return wire;
  }
  const transport::Endpoint& endpoint() const { return listener_->endpoint(); }
  // Returns a reference with this GIOP version.
  std::string corbaloc(const std::string& version = "1.2", const std::string& key = "any") {
    return "corbaloc:iiop:" + version + "@127.0.0.1:" + std::to_string(listener_->endpoint().port) + "/" + key;
  }

 private:
  Wires wires_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<transport::Connection>> streams_;
  std::unique_ptr<transport::Listener> listener_;
};

}  // namespace corelane::testing
