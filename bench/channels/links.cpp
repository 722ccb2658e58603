#include "bench/channels/links.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "orb/channel/channel.h"
#include "orb/channel/listener.h"
#include "orb/os/clock.h"

namespace channels {

using namespace corelane;

void give_up(std::string_view what) {
  std::fprintf(stderr, "corelane-bench-channels: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

namespace {

// One direction of the raw ring. A slot has a commit word and the payload; up to 56 B of payload share the cache line
// of the commit word. The only other shared word is the reader's position.
class RawRing {
 public:
  RawRing(std::byte* memory, std::size_t size)
      : released_(reinterpret_cast<std::uint64_t*>(memory)), slot_(width(size)) {
    slots_ = memory + 128, count_ = count(size);
  }

  static std::size_t bytes(std::size_t size) { return 128 + count(size) * width(size); }

  void send(Bytes message) {
    // PAIR raw.released: acquire here <- release in receive().
    while (sent_ - word(released_).load(std::memory_order_acquire) == count_) os::spin_pause();
    std::byte* slot = slots_ + sent_ % count_ * slot_;
    std::memcpy(slot + 8, message.data(), message.size());
    // PAIR raw.commit: release here -> acquire in receive().
    word(slot).store(++sent_, std::memory_order_release);
  }
  void receive(MutableBytes message) {
    std::byte* slot = slots_ + received_ % count_ * slot_;
    // PAIR raw.commit: acquire here <- release in send().
    while (word(slot).load(std::memory_order_acquire) != received_ + 1) os::spin_pause();
    std::memcpy(message.data(), slot + 8, message.size());
    // PAIR raw.released: release here -> acquire in send().
    word(released_).store(++received_, std::memory_order_release);
  }

 private:
  static std::atomic_ref<std::uint64_t> word(void* at) {
    return std::atomic_ref<std::uint64_t>(*static_cast<std::uint64_t*>(at));
  }
  static std::size_t width(std::size_t size) { return (size + 8 + 63) / 64 * 64; }
  // As many slots as a channel's ring has room for, and at least two.
  static std::size_t count(std::size_t size) { return std::clamp<std::size_t>((512u << 10) / width(size), 2, 1024); }

  std::uint64_t* released_;
  std::byte* slots_;
  std::size_t slot_, count_;
  std::uint64_t sent_ = 0, received_ = 0;
};

class RawEnd : public End {
 public:
  RawEnd(std::byte* memory, std::size_t size, int side)
      : out_(memory + (side == 0 ? 0 : RawRing::bytes(size)), size),
        in_(memory + (side == 0 ? RawRing::bytes(size) : 0), size) {}

  void send(Bytes message) override { out_.send(message); }
  void receive(MutableBytes message) override { in_.receive(message); }

 private:
  RawRing out_, in_;
};

class DescriptorEnd : public End {
 public:
  DescriptorEnd(os::Fd in, os::Fd out) : in_(std::move(in)), out_(std::move(out)) {}

  void send(Bytes message) override {
    for (std::size_t at = 0; at < message.size();) at += moved(write(out_.get(), &message[at], message.size() - at));
  }
  void receive(MutableBytes message) override {
    for (std::size_t at = 0; at < message.size();) at += moved(read(in_.get(), &message[at], message.size() - at));
  }

 private:
  static std::size_t moved(ssize_t count) {
    if (count <= 0) give_up("a socket or a pipe broke");
    return static_cast<std::size_t>(count);
  }
  os::Fd in_, out_;
};

class ChannelEnd : public End {
 public:
  explicit ChannelEnd(channel::Channel end) : end_(std::move(end)) {}

  void send(Bytes message) override {
    if (!end_.write(message, never)) give_up("a channel broke");
  }
  void receive(MutableBytes message) override {
    if (!end_.read(message, never)) give_up("a channel broke");
  }

 protected:
  channel::Channel end_;
};

// Reads each word once, several words at a time.
std::uint64_t sum_of(Bytes bytes) {
  std::array<std::uint64_t, 8> sums{}, words;
  for (std::size_t at = 0; at + sizeof words <= bytes.size(); at += sizeof words) {
    std::memcpy(words.data(), &bytes[at], sizeof words);
    for (std::size_t i = 0; i < words.size(); ++i) sums[i] += words[i];
  }
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

// Makes one pass to write a large message, and one to read it.
class LoanEnd : public ChannelEnd {
 public:
  using ChannelEnd::ChannelEnd;

  void send(Bytes message) override {
    auto draft = end_.draft(message.size(), never);
    if (!draft) give_up("a channel broke");
    std::memcpy(draft->bytes().data(), message.data(), message.size());
    if (!end_.send(*draft, message.size(), never)) give_up("a channel broke");
  }
  void receive(MutableBytes) override {
    if (!end_.wait(never)) give_up("a channel broke");
    const auto loan = end_.take();
    if (loan) sum_ = sum_of(loan->bytes());
  }

 private:
  volatile std::uint64_t sum_ = 0;
};

// Meets over a listener, so that each end knows the other's process, as in unrelated programs.
template <typename Kind>
MakeEnd meet_over_listener(const channel::Options& options) {
  auto made = channel::Listener::listen("@corelane-bench-" + std::to_string(getpid()), options);
  if (!made) give_up(made.error().text);
  const auto listener = std::make_shared<channel::Listener>(std::move(*made));
  return [listener, options](int side) -> std::unique_ptr<End> {
    const Time deadline = os::now() + std::chrono::seconds{5};
    auto end = side == 0 ? listener->accept(deadline) : channel::Channel::connect(listener->path(), options, deadline);
    if (!end) give_up(end.error().text);
    return std::make_unique<Kind>(std::move(*end));
  };
}

}  // namespace

Link raw_ring() {
  return {"raw ring", [](std::size_t size) -> MakeEnd {
            const auto flags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;  // unmapped when this process ends
            void* memory = mmap(nullptr, 2 * RawRing::bytes(size), PROT_READ | PROT_WRITE, flags, -1, 0);
            if (memory == MAP_FAILED) give_up("no memory");
            return [=](int side) { return std::make_unique<RawEnd>(static_cast<std::byte*>(memory), size, side); };
          }};
}

Link unix_socket() {
  return {"Unix socket", [](std::size_t) -> MakeEnd {
            int ends[2];
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("no socket pair");
            return [a = ends[0], b = ends[1]](int side) {
              close(side == 0 ? b : a);
              os::Fd mine(side == 0 ? a : b);
              return std::make_unique<DescriptorEnd>(os::Fd(dup(mine.get())), std::move(mine));
            };
          }};
}

Link pipe_pair() {
  return {"pipe", [](std::size_t) -> MakeEnd {
            int there[2], back[2];
            if (pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0) give_up("no pipe");
            return [=](int side) {
              close(there[side == 0 ? 0 : 1]), close(back[side == 0 ? 1 : 0]);
              return std::make_unique<DescriptorEnd>(os::Fd(side == 0 ? back[0] : there[0]),
                                                     os::Fd(side == 0 ? there[1] : back[1]));
            };
          }};
}

Link channel_link(std::string name, channel::Wake wake, os::WaitMode mode, bool in_place) {
  const channel::Options options{.wake = wake,
                                 .signal = wake == channel::Wake::signal ? wake_signal : 0,
                                 .wait = {mode, std::chrono::microseconds{50}}};
  return {std::move(name), [=](std::size_t) {
            return in_place ? meet_over_listener<LoanEnd>(options) : meet_over_listener<ChannelEnd>(options);
          }};
}

}  // namespace channels
