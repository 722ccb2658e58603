#include "services/nameserver/watches.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/core/object.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "tests/services/nameserver/served.h"

using namespace corelane;
using namespace corelane::nameserver;
using namespace std::chrono_literals;

namespace {

constexpr Duration turn = 5ms;
constexpr std::uint64_t prompt = 0;

using Changes = Corelane::Naming::ChangeList;

// A listener that is called without an ORB in between.
class DirectListener final : public Corelane::Naming::Listener {
 public:
  explicit DirectListener(std::function<void(const Changes&)> heard) : heard_(std::move(heard)) {}
  void changed(const Changes& changes, bool) override { heard_(changes); }

 private:
  const std::function<void(const Changes&)> heard_;
};

// Returns whether the last four entries are both slow listeners, each followed by the prompt one.
bool alternates(const std::vector<std::uint64_t>& noted) {
  if (noted.size() < 4) return false;
  const auto* last = &noted.back() - 3;
  return last[0] != prompt && last[1] == prompt && last[2] == 3 - last[0] && last[3] == prompt;
}

// A log with listeners. If an awaited event never comes, the test's timeout ends the test.
class Watched {
 public:
  explicit Watched(Duration longest) : watches_(log_, {.turn = longest}) {}
  explicit Watched(WatchLimits limits) : watches_(log_, limits) {}

  void add(Watches::Listener listener, std::int32_t process = 0) {
    REQUIRE(watches_.add("**", std::move(listener), {.name = "user:1", .process = process}));
  }
  std::size_t size() const { return watches_.size(); }
  void look_at(std::int32_t process) { watches_.look_at(process); }

  void listen(std::function<void(const Changes&)> heard) {
    REQUIRE(watches_.add("**", Watches::Listener(std::make_shared<DirectListener>(std::move(heard))), {}));
  }
  void change() { log_.record({Change::Kind::bound, root_context, {"x", ""}, {}}); }
  void ring() { watches_.ring(); }
  void stop() { watches_.stop(); }
  void note(std::uint64_t what) {
    {
      const std::lock_guard lock(mutex_);
      noted_.push_back(what);
    }
    came_.notify_all();
  }
  // Returns all that was noted, as soon as `enough` accepts it.
  template <typename Enough>
  std::vector<std::uint64_t> await(Enough enough) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return enough(noted_); });
    return noted_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::uint64_t> noted_;
  ChangeLog log_{4096};
  Watches watches_;  // last, because it uses the other members
};

}  // namespace

TEST_CASE("a listener that always has more to hear does not block other listeners or the nameserver's end") {
  Watched names(0ms);
  names.listen([&](const Changes&) {
    names.change();
    names.ring();
  });
  names.listen([&](const Changes& changes) { names.note(changes.back().number()); });
  names.change();
  names.ring();
  const auto heard = names.await([](const auto& noted) { return noted.size() > 2; });
  CHECK(heard[2] > heard[1]);
  names.stop();
}

TEST_CASE("a prompt listener hears of each change before each slow listener") {
  Watched names(turn);
  const auto slow = [&](std::uint64_t who) {
    return [&names, who](const Changes&) {
      names.note(who);
      for (const Time end = os::now() + turn; os::now() < end;) std::this_thread::yield();
      names.change();
      names.ring();
    };
  };
  names.listen(slow(1));
  names.listen(slow(2));
  names.listen([&](const Changes&) { names.note(prompt); });
  names.change();
  names.ring();
  // A stalled machine makes some turns of the prompt listener slow, but not all.
  constexpr std::size_t most = 2000;
  const auto heard = names.await([](const auto& noted) { return alternates(noted) || noted.size() >= most; });
  CHECK(heard.size() < most);
  names.stop();
}

TEST_CASE(
    "listeners that are gone are forgotten though nothing changes, and those that are there or only silent stay") {
  const corelane::testing::QuietOrb orb;
  const auto listener_at = [&](const std::string& url) {
    return core::make_stub<Corelane::Naming::Listener>(orb->string_to_object(url)->_reference());
  };
  // A server that accepts connections and never answers.
  const corelane::os::Fd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(silent.get(), 5) == 0);
  REQUIRE(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  Watched names(WatchLimits{.look = 1ms});
  names.listen([](const Changes&) {});
  names.add(listener_at("corbaloc::127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/x"));
  names.add(listener_at("corbaloc::127.0.0.1:1/x"));
  names.add(listener_at("corbaloc::[::1]:1/x"));
  while (names.size() > 2) std::this_thread::yield();
  names.stop();
  CHECK(names.size() == 2);
}

TEST_CASE("the listeners of a process that has ended are asked at once, and those of others are not") {
  const corelane::testing::QuietOrb orb;
  const auto nobody = [&] {
    return core::make_stub<Corelane::Naming::Listener>(orb->string_to_object("corbaloc::127.0.0.1:1/x")->_reference());
  };
  Watched names(WatchLimits{.look = 1h});
  names.add(nobody(), 77);
  names.add(nobody(), 78);
  names.listen([](const Changes&) {});
  names.look_at(78);
  while (names.size() > 2) std::this_thread::yield();
  names.look_at(79);
  names.stop();
  CHECK(names.size() == 2);
}

TEST_CASE("a listener gets changes that it has not taken within its turn in the next ones, each change once") {
  Watched names(0ms);
  names.listen([&](const Changes& changes) {
    for (const auto& change : changes) names.note(change.number());
  });
  constexpr std::uint64_t all = 1000;
  for (std::uint64_t i = 0; i < all; ++i) names.change();
  names.ring();
  const auto heard = names.await([&](const auto& noted) { return noted.size() >= all; });
  for (std::uint64_t i = 0; i < all; ++i) REQUIRE(heard[i] == i + 1);
  CHECK(heard.size() == all);
}
