// Corelane's client. With `--kind task` the pings are jobs of an admitted task.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/peers/driver/loads.h"
#include "bench/peers/driver/process.h"
#include "echoC.h"
#include "orb/corba/orb.h"
#include "orb/rt/rt.h"

namespace {

using namespace std::chrono_literals;
using Reference = IDL::traits<Peers::EchoServer>::ref_type;

class CorelaneCaller : public peers::Caller {
 public:
  explicit CorelaneCaller(Reference echo) : echo_(std::move(echo)) {}

  std::int64_t ping(std::int64_t value) override { return echo_->ping(value); }
  void push(peers::Octets octets) override { echo_->push(argument(octets)); }
  std::int64_t pushed() override { return echo_->pushed(); }
  peers::Octets echo(peers::Octets octets) override {
    result_ = {};  // like a caller whose last result has gone out of scope
    return result_ = echo_->echo(argument(octets));
  }
  peers::Octets get(std::size_t size) override {
    result_ = {};
    return result_ = echo_->get(static_cast<std::uint32_t>(size));
  }
  void put(peers::Octets octets) override { echo_->put(argument(octets)); }

 private:
  // The driver passes the same octets in each call, so they are copied into the mapping's type once.
  const Peers::Octets& argument(peers::Octets octets) {
    if (argument_.size() != octets.size()) argument_.assign(octets.begin(), octets.end());
    return argument_;
  }

  Reference echo_;
  Peers::Octets argument_, result_;
};

// Returns a contract for the pings of the load. Its rate is twice the load's, so that calls that a stall delayed can
// catch up. A closed loop gets the shortest period that fits beside the platform load.
corelane::Contract contract_of(const peers::ClientOptions& options) {
  if (options.rate == 0) return corelane::make_contract(30us, 2us);
  const peers::Nanoseconds interval{1'000'000'000 / options.rate};
  return corelane::make_contract(interval / 2, std::min<peers::Nanoseconds>(interval / 20, 50us));
}

class CorelanePeer : public peers::Peer {
 public:
  CorelanePeer(Reference echo, const peers::ClientOptions& options) : echo_(std::move(echo)) {
    if (options.kind != "task") return;
    auto admitted = corelane::rt::admit(echo_, {.operation = "ping", .contract = contract_of(options)});
    if (!admitted) throw std::runtime_error("the task was refused: " + admitted.error().text);
    task_ = std::move(*admitted);
  }

  std::unique_ptr<peers::Caller> connect() override { return std::make_unique<CorelaneCaller>(echo_); }

 private:
  Reference echo_;
  std::optional<corelane::rt::Task> task_;
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  auto orb = CORBA::ORB_init(argc, argv);
  const auto options = peers::client_options(argc, argv);
  CorelanePeer peer(IDL::traits<Peers::EchoServer>::narrow(orb->string_to_object(options.address)), options);
  return peers::run_client(options, peer);
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
