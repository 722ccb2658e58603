// Channels beside what else carries bytes between two processes of one host, in one interleaved run.
//
//   corelane-bench-channels [ROUNDS [CORE CORE [SIZE...]]]   two processes, each bound to one core; 5 rounds, cores 2
//   and
//                                                            3, eight sizes
//
// Each row: half of a round trip (p50, p99, p99.9, max of all rounds) and the rate of messages one way, payload written
// and read. "raw ring": two rings of records between two processes that spin, with nothing around them: what the memory
// itself takes, for messages up to 56 B. Ratios are to that, or where it cannot, to the Unix socket. "published" is the
// table of the source for a channel that notifies by signal, on its machine. At the end: 1 MiB written in place and
// read in place, beside memcpy; and the processor time of a parked end that nobody writes to.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/latency/machine.h"
#include "orb/channel/channel.h"
#include "orb/channel/listener.h"
#include "orb/os/clock.h"

namespace {

using namespace corelane;

constexpr int wake_signal = 40;

[[noreturn]] void give_up(std::string_view what) {
  std::fprintf(stderr, "corelane-bench-channels: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

void bind_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) give_up("cannot run on core " + std::to_string(core));
}

// One end of a link.
class End {
 public:
  virtual ~End() = default;
  virtual void send(Bytes message) = 0;
  virtual void receive(MutableBytes message) = 0;
};

// ---- The peers

// Messages of up to 56 B: a commit word and the payload in one line; the other end's position is the only other word.
struct RawLink {
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> commit;
    std::byte payload[56];
  };
  static constexpr std::uint64_t slots = 1024;
  struct Ring {
    alignas(128) std::atomic<std::uint64_t> released;
    alignas(128) Slot slot[slots];
  };
  Ring ring[2];
};

class RawEnd : public End {
 public:
  RawEnd(RawLink& link, int side) : out_(&link.ring[side]), in_(&link.ring[1 - side]) {}

  void send(Bytes message) override {
    // PAIR raw.released: acquire here <- release in receive().
    while (sent_ - out_->released.load(std::memory_order_acquire) == RawLink::slots) os::spin_pause();
    RawLink::Slot& slot = out_->slot[sent_ % RawLink::slots];
    std::memcpy(slot.payload, message.data(), message.size());
    // PAIR raw.commit: release here -> acquire in receive().
    slot.commit.store(++sent_, std::memory_order_release);
  }
  void receive(MutableBytes message) override {
    RawLink::Slot& slot = in_->slot[received_ % RawLink::slots];
    // PAIR raw.commit: acquire here <- release in send().
    while (slot.commit.load(std::memory_order_acquire) != received_ + 1) os::spin_pause();
    std::memcpy(message.data(), slot.payload, message.size());
    // PAIR raw.released: release here -> acquire in send().
    in_->released.store(++received_, std::memory_order_release);
  }

 private:
  RawLink::Ring *out_, *in_;
  std::uint64_t sent_ = 0, received_ = 0;
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

// Large messages in place: one pass to write, one to read.
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
    std::uint64_t sum = 0, word = 0;
    for (std::size_t at = 0; loan && at + 8 <= loan->bytes().size(); at += 8)
      std::memcpy(&word, &loan->bytes()[at], 8), sum += word;
    sum_ = sum;
  }

 private:
  volatile std::uint64_t sum_ = 0;
};

// ---- Links: what both processes inherit, and how each makes its end of it

using MakeEnd = std::function<std::unique_ptr<End>(int side)>;

struct Contender {
  std::string name;
  std::size_t largest;
  std::function<MakeEnd()> make;  // before the fork
};

struct Pair {
  os::Fd ends[2];
};

std::shared_ptr<Pair> socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("no socket pair");
  const auto made = std::make_shared<Pair>();
  made->ends[0].reset(ends[0]), made->ends[1].reset(ends[1]);
  return made;
}

template <typename Kind>
Contender channel_contender(std::string name, channel::Options options) {
  return {std::move(name), SIZE_MAX, [options]() -> MakeEnd {
            // As strangers would: over a listener, so that each end knows the other's process.
            const std::string address = "@corelane-bench-" + std::to_string(getpid());
            auto made = channel::Listener::listen(address, options);
            if (!made) give_up(made.error().text);
            const auto listener = std::make_shared<channel::Listener>(std::move(*made));
            return [listener, options](int side) -> std::unique_ptr<End> {
              const Time deadline = os::now() + std::chrono::seconds{5};
              auto end = side == 0 ? listener->accept(deadline)
                                   : channel::Channel::connect(listener->path(), options, deadline);
              if (!end) give_up(end.error().text);
              return std::make_unique<Kind>(std::move(*end));
            };
          }};
}

MakeEnd make_raw() {
  void* memory =
      mmap(nullptr, sizeof(RawLink), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) give_up("no memory");
  return [link = static_cast<RawLink*>(memory)](int side) { return std::make_unique<RawEnd>(*link, side); };
}

MakeEnd make_socket() {
  const auto sockets = socket_pair();
  return [sockets](int side) {
    os::Fd mine = std::move(sockets->ends[side]);
    sockets->ends[1 - side].reset();
    return std::make_unique<DescriptorEnd>(os::Fd(dup(mine.get())), std::move(mine));
  };
}

MakeEnd make_pipe() {
  int there[2], back[2];
  if (pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0) give_up("no pipe");
  return [=](int side) {
    close(there[side == 0 ? 0 : 1]), close(back[side == 0 ? 1 : 0]);
    return std::make_unique<DescriptorEnd>(os::Fd(side == 0 ? back[0] : there[0]),
                                           os::Fd(side == 0 ? there[1] : back[1]));
  };
}

channel::Options options(channel::Wake wake, os::WaitMode mode) {
  return {.wake = wake,
          .signal = wake == channel::Wake::signal ? wake_signal : 0,
          .wait = {mode, std::chrono::microseconds{50}}};
}

std::vector<Contender> contenders() {
  using channel::Wake;
  using os::WaitMode;
  std::vector<Contender> all{
      {"raw ring", 56, make_raw}, {"Unix socket", SIZE_MAX, make_socket}, {"pipe", SIZE_MAX, make_pipe}};
  all.push_back(channel_contender<ChannelEnd>("channel, spin", options(Wake::spin, WaitMode::spin)));
  all.push_back(channel_contender<ChannelEnd>("channel, adaptive", options(Wake::futex, WaitMode::adaptive)));
  all.push_back(channel_contender<ChannelEnd>("channel, park", options(Wake::futex, WaitMode::park)));
  all.push_back(channel_contender<ChannelEnd>("channel, eventfd", options(Wake::eventfd, WaitMode::park)));
  all.push_back(channel_contender<ChannelEnd>("channel, signal", options(Wake::signal, WaitMode::park)));
  return all;
}

// ---- Measuring

struct Samples {
  std::vector<Duration> round_trips;
  double megabytes = 0, seconds = 0;

  double half(double quantile) {
    std::sort(round_trips.begin(), round_trips.end());
    const auto at = static_cast<std::size_t>(quantile * static_cast<double>(round_trips.size() - 1));
    return static_cast<double>(round_trips[at].count()) / 2000;
  }
  double rate() const { return megabytes / seconds; }
};

struct Plan {
  std::size_t size, warm_up, calls, streamed;
};

Plan plan_for(std::size_t size) {
  if (size <= 4096) return {size, 2000, 20'000, 200'000};
  return size <= 65536 ? Plan{size, 200, 2000, 10'000} : Plan{size, 20, 200, 500};
}

// The other process: echoes, then swallows the stream and says so.
[[noreturn]] void serve(End& end, const Plan& plan) {
  std::vector<std::byte> buffer(plan.size);
  for (std::size_t i = 0; i < plan.warm_up + plan.calls; ++i) end.receive(buffer), end.send(buffer);
  for (std::size_t i = 0; i < plan.streamed; ++i) end.receive(buffer);
  end.send(buffer);
  end.receive(buffer);
  _exit(0);
}

void measure(const Contender& contender, const Plan& plan, const int (&cores)[2], Samples& samples) {
  const MakeEnd make = contender.make();
  const pid_t child = fork();
  if (child == 0) {
    bind_to(cores[1]);
    serve(*make(1), plan);
  }
  const auto end = make(0);
  std::vector<std::byte> buffer(plan.size, std::byte{1});
  for (std::size_t i = 0; i < plan.warm_up; ++i) end->send(buffer), end->receive(buffer);
  for (std::size_t i = 0; i < plan.calls; ++i) {
    const Time start = os::now();
    end->send(buffer), end->receive(buffer);
    samples.round_trips.push_back(os::now() - start);
  }
  const Time start = os::now();
  for (std::size_t i = 0; i < plan.streamed; ++i) end->send(buffer);
  end->receive(buffer);
  samples.seconds += std::chrono::duration<double>(os::now() - start).count();
  samples.megabytes += static_cast<double>(plan.size * plan.streamed) / 1e6;
  end->send(buffer);
  waitpid(child, nullptr, 0);
}

struct Published {
  std::size_t size;
  double latency, rate;
};
constexpr Published published[] = {{4, 1.53, 2.5}, {32, 1.52, 20.1}, {512, 1.74, 280.0}, {1024, 1.67, 583.5}};

void print_size(std::size_t size, const std::vector<Contender>& all, std::map<std::string, Samples>& results) {
  std::printf("\n%zu B%33s p50 us     p99   p99.9      max      MB/s   ratio\n", size, "");
  const bool raw = results.contains("raw ring");
  const double base = results[raw ? "raw ring" : "Unix socket"].half(0.5);
  for (const Contender& contender : all) {
    if (!results.contains(contender.name)) continue;
    Samples& s = results[contender.name];
    std::printf("  %-34s %8.3f %7.2f %7.2f %8.1f %9.1f %7.2f\n", contender.name.c_str(), s.half(0.5), s.half(0.99),
                s.half(0.999), s.half(1), s.rate(), s.half(0.5) / base);
  }
  for (const Published& row : published)
    if (row.size == size) std::printf("  %-34s %8.2f %34.1f\n", "published", row.latency, row.rate);
  std::fflush(stdout);
}

double memcpy_rate(std::size_t size) {
  std::vector<std::byte> from(size, std::byte{1}), to(size);
  constexpr int copies = 2000;
  const Time start = os::now();
  for (int i = 0; i < copies; ++i) {
    std::memcpy(to.data(), from.data(), size);
    asm volatile("" : : "r"(to.data()) : "memory");
  }
  return static_cast<double>(size) * copies / 1e6 / std::chrono::duration<double>(os::now() - start).count();
}

void compare_large(int rounds, const int (&cores)[2]) {
  const std::size_t size = 1 << 20;
  const Contender loans = channel_contender<LoanEnd>("loan", options(channel::Wake::spin, os::WaitMode::spin));
  const Contender copies = channel_contender<ChannelEnd>("copied", options(channel::Wake::spin, os::WaitMode::spin));
  const Contender socket{"Unix socket", SIZE_MAX, make_socket};
  Samples by_loan, copied, by_socket;
  for (int round = 0; round < rounds; ++round) {
    measure(loans, plan_for(size), cores, by_loan);
    measure(copies, plan_for(size), cores, copied);
    measure(socket, plan_for(size), cores, by_socket);
  }
  std::printf(
      "\n1 MiB one way, MB/s: loan (one copy in, read in place) %.0f, copied in and out %.0f, Unix socket %.0f, memcpy "
      "%.0f\n",
      by_loan.rate(), copied.rate(), by_socket.rate(), memcpy_rate(size));
  std::fflush(stdout);  // before the next fork
}

// Processor time that an end takes in ten seconds in which nobody writes to it.
void idle_cost(channel::Wake wake, const char* name) {
  const MakeEnd make = channel_contender<ChannelEnd>(name, options(wake, os::WaitMode::park)).make();
  const pid_t child = fork();
  if (child == 0) {
    const auto end = make(1);
    std::vector<std::byte> buffer(4);
    end->receive(buffer);
    const timespec before = [] {
      timespec t;
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
      return t;
    }();
    end->receive(buffer);
    timespec after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const double seconds =
        static_cast<double>(after.tv_sec - before.tv_sec) + static_cast<double>(after.tv_nsec - before.tv_nsec) / 1e9;
    std::printf("parked by %s for 10 s: %.3f ms of processor time, %.4f %%\n", name, seconds * 1e3, seconds * 10);
    std::fflush(stdout);
    _exit(0);
  }
  const auto end = make(0);
  const std::byte buffer[4]{};
  end->send(buffer);
  os::sleep_until(os::now() + std::chrono::seconds{10});
  end->send(buffer);
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const int cores[2] = {argc > 3 ? std::atoi(argv[2]) : 2, argc > 3 ? std::atoi(argv[3]) : 3};
  if (rounds <= 0) give_up("usage: corelane-bench-channels [ROUNDS [CORE CORE [SIZE...]]]");
  sigset_t set;
  sigemptyset(&set), sigaddset(&set, wake_signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const std::string facts = latency::machine_facts();  // before this process is bound
  (void)os::wake_cost();  // what adaptive ends go by: between cores, as here, not on the one that follows
  bind_to(cores[0]);
  std::printf("%s\ncores %d and %d, %d rounds, half of a round trip\n", facts.c_str(), cores[0], cores[1], rounds);
  const std::vector<Contender> all = contenders();
  std::vector<std::size_t> sizes{4, 32, 48, 512, 1024, 4096, 65536, 1 << 20};
  if (argc > 4) sizes.clear();
  for (int i = 4; i < argc; ++i) sizes.push_back(std::stoul(argv[i]));
  for (const std::size_t size : sizes) {
    std::map<std::string, Samples> results;
    for (int round = 0; round < rounds; ++round)
      for (const Contender& contender : all)
        if (size <= contender.largest) measure(contender, plan_for(size), cores, results[contender.name]);
    print_size(size, all, results);
  }
  compare_large(rounds, cores);
  idle_cost(channel::Wake::futex, "futex");
  idle_cost(channel::Wake::eventfd, "eventfd");
}
