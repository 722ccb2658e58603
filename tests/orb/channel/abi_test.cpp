// A program in C, written from docs/channel.md, at the other end.
#include <catch2/catch.hpp>

#include "orb/channel/listener.h"
#include "orb/os/child_process.h"
#include "tests/support/channel_pair.h"
#include "tests/support/temp_directory.h"

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

class CPeer {
 public:
  explicit CPeer(Wake wake) : listener_(listen(directory_ / "channel", wake)), program_({path(), listener_.path()}) {}

  Channel accept() {
    auto end = listener_.accept(soon());
    if (!end) throw std::runtime_error(end.error().text);
    return std::move(*end);
  }
  std::optional<os::ExitStatus> wait() { return program_.wait(soon()); }

 private:
  static std::string path() { return os::program_beside("corelane-channel-abi-peer"); }
  static Listener listen(const std::string& path, Wake wake) {
    auto made = Listener::listen(path, {.shape = {.slots = 128, .chunks = 8, .chunk_size = 65536}, .wake = wake});
    if (!made) throw std::runtime_error(made.error().text);
    return std::move(*made);
  }

  TempDirectory directory_;
  Listener listener_;
  os::ChildProcess program_;
};

}  // namespace

TEST_CASE("a program in C that was written from the documentation is a good peer") {
  CPeer peer(GENERATE(Wake::spin, Wake::futex));
  {
    Channel end = peer.accept();
    for (int round = 0; round < 30; ++round)
      for (const std::size_t size : {0u, 5u, 48u, 49u, 1000u, 1001u, 1500u, 40'000u, 200'000u}) {
        const std::string text = filled(size, static_cast<std::uint32_t>(round + 1));
        REQUIRE(end.write(as_bytes(text), soon()));
        REQUIRE(read(end) == text);
      }
    // Many on their way at once.
    std::string all, back;
    for (int i = 0; i < 40; ++i) {
      REQUIRE(end.write(as_bytes(std::to_string(i)), soon()));
      all += std::to_string(i);
    }
    for (int i = 0; i < 40; ++i) back += read(end);
    CHECK(back == all);
  }
  const auto status = peer.wait();
  REQUIRE(status);
  CHECK(status->text() == os::ExitStatus{}.text());
}
