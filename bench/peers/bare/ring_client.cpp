// The client of the bare ring: one caller, since there is one pair of rings. --kind spin or futex, as the server's.
#include <stdexcept>
#include <utility>

#include "bench/peers/bare/frames.h"
#include "bench/peers/bare/ring.h"
#include "bench/peers/driver/loads.h"
#include "bench/peers/driver/process.h"

namespace {

using namespace peers::bare;
using peers::Octets;

class RingCaller : public peers::Caller {
 public:
  RingCaller(RingPair& rings, Waiting waiting) : requests_(rings.requests, waiting), replies_(rings.replies, waiting) {}

  std::int64_t ping(std::int64_t value) override { return number_at<std::int64_t>(reply_to(ping_.with(value)), 0); }
  void push(Octets octets) override { requests_.send(push_.before(octets.size()), octets); }
  std::int64_t pushed() override { return number_at<std::int64_t>(reply_to(pushed_.alone()), 0); }

 private:
  Octets reply_to(Octets request) {
    requests_.send(request, {});
    return result_of(replies_.receive());
  }

  RingProducer requests_;
  RingConsumer replies_;
  Request ping_{"ping", default_key(), false}, push_{"push", default_key(), true},
      pushed_{"pushed", default_key(), false};
};

class RingPeer : public peers::Peer {
 public:
  explicit RingPeer(const peers::ClientOptions& options)
      : rings_(open_rings(options.address)), waiting_(waiting_of(options.kind)) {}

  std::unique_ptr<peers::Caller> connect() override {
    if (std::exchange(is_taken_, true)) throw std::runtime_error("a ring has one client thread");
    return std::make_unique<RingCaller>(rings_, waiting_);
  }

 private:
  RingPair& rings_;
  Waiting waiting_;
  bool is_taken_ = false;
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  const auto options = peers::client_options(argc, argv);
  RingPeer peer(options);
  return peers::run_client(options, peer);
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
