// A peer changes a long message in the channel's memory while the other end demarshals it there. The change may spoil
// only that message, or the peer's own connection. CORELANE_CHANGES sets the number of messages (100 in each case).
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "orb/core/client/reference.h"
#include "orb/rt/rt.h"
#include "orb/transport/channel/channel.h"
#include "tests/support/bytes/changing_bytes.h"
#include "tests/support/modes.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/from_environment.h"
#include "tests/support/system/temp_directory.h"

namespace channel_changing_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

std::uint64_t messages() { return from_environment("CORELANE_CHANGES", 100); }

// A message, and the part of it that the peer changes.
struct Prey {
  std::vector<std::byte> bytes;
  std::size_t body_at = 0;

  explicit Prey(cdr::Writer& writer, std::size_t body) : body_at((body + 7) / 8 * 8) {
    REQUIRE(giop::finish(writer));
    bytes = writer.to_vector();
    REQUIRE(bytes.size() > transport::Connection::longest_copied);
  }
};

// A request of step(): most of it is a structure with a string and a sequence.
Prey request_of(Bytes key, std::uint32_t id) {
  cdr::Writer writer;
  begin_request(writer, id, key, "step");
  const std::size_t body = writer.size();
  writer.write(1.0);
  encode(writer, Probing::Point{.x = 1, .label = "cart", .samples = std::vector<double>(10'000, 0.5)});
  return Prey(writer, body);
}
Prey reply_to(std::uint32_t id) {
  cdr::Writer writer;
  giop::ReplyHeader header;
  header.request_id = id;
  giop::begin_reply(writer, header);
  const std::size_t body = writer.size();
  writer.write(1.5);
  encode(writer, Probing::Point{.x = 1, .label = "cart", .samples = std::vector<double>(10'000, 0.5)});
  writer.write(std::uint32_t{1});
  return Prey(writer, body);
}

// Sends messages and may change them afterwards in the memory where they are.
class Hunter {
 public:
  Hunter(std::shared_ptr<transport::Connection> stream, std::uint64_t seed)
      : stream_(stream), wire_(std::move(stream)), changer_(seed) {}

  // Returns false if there is no room now, or if the connection was closed.
  bool send(const Prey& prey) {
    const auto send_buffer = stream_->send_buffer(prey.bytes.size());
    if (!send_buffer) return false;
    std::memcpy(send_buffer->bytes().data(), prey.bytes.data(), prey.bytes.size());
    lies_at_ = send_buffer->bytes().data();
    return stream_->send(Bytes(send_buffer->bytes()).first(prey.bytes.size())).has_value();
  }
  // Changes mostly the first words, which contain counts and lengths.
  void change(std::size_t from, std::size_t size) {
    changer_.change(lies_at_ + from, turns_++ % 4 == 0 ? size : std::min<std::size_t>(size, 48));
  }
  std::optional<giop::Message> poll() { return wire_.next(Duration::zero()); }
  bool is_open() { return wire_.is_open(); }

 private:
  const std::shared_ptr<transport::Connection> stream_;
  Wire wire_;
  Changer changer_;
  std::byte* lies_at_ = nullptr;
  std::uint64_t turns_ = 0;
};

struct Server {
  explicit Server(const std::string& mode)
      : server({"-ORBDispatchMode", mode, "-ORBEndpointListen", "channel:" + directory / "channel"}) {}
  Hunter hunter(std::uint64_t seed) {
    return {channels.connect(server.orb->endpoints().front(), os::now() + long_enough).value(), seed};
  }
  Bytes key() { return server.reference->_reference()->address()->object_key; }

  const TempDirectory directory{};
  ProbeServer server;
  const std::unique_ptr<transport::Reactor> reactor = std::move(*transport::Reactor::start());
  transport::ChannelTransport channels{*reactor};
};

// Answers each request, and changes the answer until the next request comes.
class LyingServer {
 public:
  explicit LyingServer(const std::string& path)
      : listener_(channels_.listen(transport::channel_endpoint(path), [this](auto stream) { take(std::move(stream)); })
                      .value()) {}
  ~LyingServer() { listener_->stop(); }

 private:
  void take(std::shared_ptr<transport::Connection> stream) {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([stream, seed = threads_.size()](std::stop_token stop) { lie(stream, seed, stop); });
  }
  static void lie(std::shared_ptr<transport::Connection> stream, std::uint64_t seed, const std::stop_token& stop) {
    Hunter hunter(std::move(stream), seed);
    std::optional<Prey> prey;
    while (!stop.stop_requested() && hunter.is_open()) {
      if (prey) hunter.change(seed % 2 == 0 ? prey->body_at : 0, prey->bytes.size() - prey->body_at);
      const auto message = hunter.poll();
      const auto request = message ? giop::parse_request(*message, {}) : Error{};
      if (!request) continue;
      prey.emplace(reply_to(request->header.request_id));
      if (!hunter.send(*prey)) prey.reset();
    }
  }

  const std::unique_ptr<transport::Reactor> reactor_ = std::move(*transport::Reactor::start());
  transport::ChannelTransport channels_{*reactor_};
  std::mutex mutex_;
  std::vector<std::jthread> threads_;
  std::unique_ptr<transport::Listener> listener_;
};

}  // namespace

TEST_CASE("a request whose arguments change while they are demarshalled is answered and harms nobody else") {
  const Quiet quiet;
  Server victim(GENERATE(every_mode()));
  TestOrb other;
  const auto probe = probe_of(other, victim.server.ior());
  Hunter hunter = victim.hunter(1);
  for (std::uint32_t id = 1; id <= messages(); ++id) {
    const Prey prey = request_of(victim.key(), id);
    REQUIRE(hunter.send(prey));
    std::optional<giop::Message> answer;
    while (!(answer = hunter.poll())) {
      REQUIRE(hunter.is_open());
      hunter.change(prey.body_at, prey.bytes.size() - prey.body_at);
    }
    REQUIRE(giop::parse_reply(*answer, {})->header.request_id == id);
    if (id % 16 == 0) REQUIRE(probe->add(20, 22) == 42);
  }
}

TEST_CASE("a request that changes as a whole while it is read costs its sender the connection at most") {
  const Quiet quiet;
  Server victim(GENERATE(every_mode()));
  TestOrb other;
  const auto probe = probe_of(other, victim.server.ior());
  for (std::uint64_t seed = 0; seed < messages() / 10; ++seed) {
    Hunter hunter = victim.hunter(seed);
    for (std::uint32_t id = 1; id <= 10 && hunter.is_open(); ++id) {
      const Prey prey = request_of(victim.key(), id);
      if (!hunter.send(prey)) break;
      for (int turns = 0; turns < 1000 && !hunter.poll() && hunter.is_open(); ++turns)
        hunter.change(0, turns % 2 == 0 ? prey.body_at : prey.bytes.size());
    }
    REQUIRE(probe->add(20, 22) == 42);
  }
}

TEST_CASE("a reply that changes while it is demarshalled costs its receiver that call at most") {
  const Quiet quiet;
  const TempDirectory directory;
  std::string reference;
  {
    ProbeServer before({"-ORBEndpointListen", "channel:" + directory / "channel"});
    reference = before.ior();
  }
  ProbeServer honest({"-ORBEndpointListen", "channel:" + directory / "honest"});
  LyingServer server(directory / "channel");
  TestOrb client({"-ORBTimeoutRequest", "50ms"});
  TestOrb patient;
  const auto probe = probe_of(client, reference), other = probe_of(patient, honest.ior());
  int answered = 0;
  for (std::uint64_t i = 0; i < messages() || answered == 0; ++i) try {
      Probing::Point state{.x = 1, .label = "cart", .samples = {}};
      Probing::Mode mode = Probing::Mode::idle;
      (void)probe->step(1, state, mode);
      ++answered;
      REQUIRE(state.label.size() <= 100'000);
      REQUIRE(state.samples.size() <= 10'002);
    } catch (const CORBA::SystemException&) {
      REQUIRE(other->add(20, 22) == 42);
    }
}

}  // namespace channel_changing_test
