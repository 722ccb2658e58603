// Tests a channel whose other end is a program in C, which was written from docs/channel.md.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orb/channel/listener.h"
#include "orb/channel/memory/memory.h"
#include "orb/os/process/child_process.h"
#include "tests/support/await.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/peers/forked_peer.h"

namespace abi_test {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

using Words = std::vector<std::string>;

constexpr int abi_signal = 40;  // channel_test.cpp blocks it from the start

Options options_of(Wake wake, bool grows = false) {
  return {.shape = {.slots = 128, .chunks = 8, .chunk_size = 65536},
          .grows = grows,
          .wake = wake,
          .signal = wake == Wake::signal ? abi_signal : 0,
          .wait = {os::WaitMode::park}};
}

// The program, and the end of this process. If the program is told to accept, this end connects.
class CPeer {
 public:
  explicit CPeer(const Options& options, Words words = {}) : options_(options) {
    const bool connects = std::find(words.begin(), words.end(), "accept=1") != words.end();
    if (!connects) listener_.emplace(listen(path(), options));
    words.insert(words.begin(), {os::program_beside("corelane-channel-peer"), path()});
    program_.emplace(words, os::ChildOptions{.joins_errors = true});
    if (connects) REQUIRE(program_->read_line(soon()) == "listening");
  }

  ChannelResult meet() { return listener_ ? listener_->accept(soon()) : Channel::connect(path(), options_, soon()); }
  // Waits until the program sleeps. It was awake when the channel was made, so it has received what was sent before.
  void await_sleep() {
    await("the program sleeps", [&] {
      std::ifstream stat("/proc/" + std::to_string(program_->pid()) + "/stat");
      const std::string text(std::istreambuf_iterator<char>(stat), {});
      return text.find(") S ") != text.npos;  // the state follows the name
    });
  }
  std::string says() { return program_->read_all(soon()).value_or("nothing"); }
  std::string ends() {
    const auto status = program_->wait(soon());
    return status ? status->text() : "not at all";
  }
  Listener& listener() { return *listener_; }

 private:
  std::string path() const { return directory_ / "channel"; }
  static Listener listen(const std::string& path, const Options& options) {
    auto made = Listener::listen(path, options);
    if (!made) throw std::runtime_error(made.error().text);
    return std::move(*made);
  }

  TempDirectory directory_;
  Options options_;
  std::optional<Listener> listener_;
  std::optional<os::ChildProcess> program_;
};

void exchange(Channel& end, std::size_t longest) {
  for (std::uint32_t round = 1; round <= 20; ++round)
    for (const std::size_t size : {0u, 5u, 48u, 49u, 1000u, 1001u, 1500u, 40'000u, 200'000u}) {
      if (size > longest) continue;
      const std::string text = filled(size, round);
      REQUIRE(end.write(as_bytes(text), soon()));
      REQUIRE(read(end) == text);
    }
  // Sends many messages before it reads the first answer.
  std::string all, back;
  for (int i = 0; i < 40; ++i) {
    REQUIRE(end.write(as_bytes(std::to_string(i)), soon()));
    all += std::to_string(i);
  }
  for (int i = 0; i < 40; ++i) back += read(end);
  CHECK(back == all);
}

const std::string good_order = os::ExitStatus{}.text();

}  // namespace

TEST_CASE("a program in C that was written from the documentation is a good peer") {
  static constexpr std::size_t all = 200'000, in_place = 1500;
  const auto [wake, words, longest] = GENERATE(table<Wake, Words, std::size_t>({
      {Wake::spin, {}, all},
      {Wake::futex, {}, all},
      {Wake::futex, {"wake=0"}, all},
      {Wake::futex, {"wake=2"}, all},
      {Wake::futex, {"wake=3"}, all},
      {Wake::eventfd, {"wake=1", "patient=2"}, all},
      {Wake::signal, {"wake=1"}, all},
      {Wake::eventfd, {"wake=2", "patient=2"}, all},
      {Wake::eventfd, {"wake=2", "patient=2", "accept=1"}, all},
      {Wake::eventfd, {"wake=2", "patient=2", "offer=15"}, all},  // no near sleep
      {Wake::futex, {"far=1"}, all},
      {Wake::futex, {"far=1", "accept=1"}, all},
      {Wake::futex, {"accept=1", "wake=3"}, all},
      {Wake::futex, {"offer=0"}, in_place},
      {Wake::futex, {"offer=0", "accept=1"}, in_place},
      {Wake::futex, {"offer=2", "far=1"}, in_place},
      {Wake::futex, {"offer=255"}, all},  // features of a future version
      {Wake::futex, {"require=7", "accept=1"}, all},
      {Wake::futex, {"offer=7"}, all},  // the program does not read memory that grows
  }));
  const auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  const bool grows = GENERATE(false, true) && !(has("offer=0") && has("accept=1"));
  CPeer peer(options_of(wake, grows), words);
  {
    Channel end = expect(peer.meet());
    if (has("wake=2")) peer.await_sleep();
    exchange(end, longest);
  }
  const std::string told = peer.says();
  CHECK(peer.ends() == good_order);
  INFO(told);
  CHECK((told.find(" 0 times far") == told.npos) == has("far=1"));
  CHECK((told.find(" 0 times near") == told.npos) == (has("wake=2") && !has("offer=15")));
  CHECK((told.find("woke 0 near") == told.npos) == (wake == Wake::eventfd && !has("offer=15")));
}

TEST_CASE("a program in C wakes a peer that sleeps at the socket") {
  CPeer peer(options_of(Wake::futex), {"patient=1"});
  {
    Channel end = expect(peer.meet());
    REQUIRE(end.write(as_bytes("asleep?"), soon()));
    CHECK(read(end) == "asleep?");
  }
  CHECK(peer.ends() == good_order);
}

TEST_CASE("a program in C that dies in the middle of a record leaves nothing of it and what was before") {
  CPeer peer(options_of(Wake::futex), {"die=3"});
  Channel end = expect(peer.meet());
  for (const char* text : {"one", "two", "three", "four"}) REQUIRE(end.write(as_bytes(text), soon()));
  CHECK(read(end) == "one");
  CHECK(read(end) == "two");
  CHECK(read(end) == ended(Fault::peer_died));
  CHECK(end.was_claimed(3));
  CHECK_FALSE(end.was_claimed(4));
  CHECK(peer.ends() == os::ExitStatus{.code = 0, .signal = SIGKILL}.text());
}

TEST_CASE("a program in C is told of its peer's death") {
  CPeer peer(options_of(Wake::futex), {GENERATE(as<std::string>{}, "wake=0", "wake=1", "wake=2", "wake=3", "far=1")});
  const pid_t child = corelane::testing::fork_alone();
  if (child == 0) {
    auto end = peer.listener().accept(soon());
    if (end && end->write(as_bytes("x"), soon()) && read(*end) == "x") raise(SIGKILL);
    _exit(1);
  }
  CHECK(end_of(child) == -SIGKILL);
  CHECK(peer.ends() == os::ExitStatus{.code = 2}.text());
}

TEST_CASE("a program in C that asks for what is not there is told so") {
  const auto [word, why] = GENERATE(table<std::string, std::string>({
      {"require=64", "one end requires features that the other lacks: 0x40"},
      {"versions=2", "no common version: this end speaks 1 to 1, the other 2 to 3"},
      {"wake=4", "the other end wants to be woken in a way unknown here"},
  }));
  CPeer peer(options_of(Wake::futex), {word});
  const auto end = peer.meet();
  REQUIRE_FALSE(end);
  CHECK(end.error().text.find(why) != std::string::npos);
  const std::string told = peer.says();
  INFO(told);
  CHECK(told.find(why) != std::string::npos);
  CHECK(peer.ends() == os::ExitStatus{.code = 1}.text());
}

TEST_CASE("an acceptor in C that cannot read memory that grows refuses it") {
  if (!can_grow()) return;
  CPeer peer(options_of(Wake::futex, true), {"offer=7", "accept=1"});
  const auto end = peer.meet();
  REQUIRE_FALSE(end);
  CHECK(end.error().text.find("one end requires features that the other lacks: 0x8") != std::string::npos);
}

}  // namespace abi_test
