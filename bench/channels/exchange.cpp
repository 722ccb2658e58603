#include "bench/channels/exchange.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"

namespace channels {

using namespace corelane;

namespace {

std::uint64_t nanoseconds_since(Time start) { return static_cast<std::uint64_t>((os::now() - start).count()); }

// The other process: echoes the round trips, reads the stream, answers once, and waits until that answer was read.
[[noreturn]] void serve(End& end, const Plan& plan) {
  std::vector<std::byte> buffer(plan.size);
  for (std::size_t i = 0; i < plan.warm_up + plan.calls; ++i) end.receive(buffer), end.send(buffer);
  for (std::size_t i = 0; i < plan.streamed; ++i) end.receive(buffer);
  end.send(buffer);
  end.receive(buffer);
  _exit(0);
}

Measured call(End& end, const Plan& plan) {
  Measured measured;
  measured.round_trips.reserve(plan.calls);
  std::vector<std::byte> buffer(plan.size, std::byte{1});
  for (std::size_t i = 0; i < plan.warm_up; ++i) end.send(buffer), end.receive(buffer);
  for (std::size_t i = 0; i < plan.calls; ++i) {
    const Time start = os::now();
    end.send(buffer), end.receive(buffer);
    measured.round_trips.push_back(nanoseconds_since(start));
  }
  const Time start = os::now();
  for (std::size_t i = 0; i < plan.streamed; ++i) end.send(buffer);
  end.receive(buffer);
  measured.stream = nanoseconds_since(start);
  end.send(buffer);
  return measured;
}

constexpr std::chrono::minutes patience{2};  // longer than a round of one row takes

Measured measured_of(const std::string& bytes, const Plan& plan) {
  if (bytes.size() != (plan.calls + 1) * sizeof(std::uint64_t)) throw std::runtime_error("it hangs, or gave up");
  Measured measured;
  measured.round_trips.resize(plan.calls);
  std::memcpy(measured.round_trips.data(), bytes.data(), plan.calls * sizeof(std::uint64_t));
  std::memcpy(&measured.stream, &bytes[plan.calls * sizeof(std::uint64_t)], sizeof measured.stream);
  return measured;
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

// Forks. The kernel kills the child when this process ends, because an end that spins would never end by itself.
pid_t fork_helper() {
  const pid_t parent = getpid(), child = fork();
  if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)) _exit(1);
  return child;
}

void bind_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) give_up("cannot run on core " + std::to_string(core));
}

Measured exchange(const Link& link, const Plan& plan, Cores cores) {
  const MakeEnd make = link.make(plan.size);
  const pid_t child = fork_helper();
  if (child == 0) {
    bind_to(cores.far);
    serve(*make(1), plan);
  }
  const Measured measured = call(*make(0), plan);
  waitpid(child, nullptr, 0);
  return measured;
}

Measured exchange_iceoryx2(const std::string& program, bool by_event, bool in_place, const Plan& plan, Cores cores) {
  static int services = 0;
  const std::vector<std::string> rest{"corelane/bench/" + std::to_string(getpid()) + "/" + std::to_string(++services),
                                      by_event ? "event" : "poll",
                                      in_place ? "place" : "copy",
                                      std::to_string(plan.size),
                                      std::to_string(plan.warm_up),
                                      std::to_string(plan.calls),
                                      std::to_string(plan.streamed)};
  const auto command = [&](const char* side) {
    std::vector<std::string> words{program, side};
    words.insert(words.end(), rest.begin(), rest.end());
    return words;
  };
  const auto core = [](int number) { return CoreId{static_cast<std::int16_t>(number)}; };
  os::ChildProcess echo(command("echo"), {.core = core(cores.far)});
  if (echo.read_line(os::now() + patience) != "READY") throw std::runtime_error(program + " does not start");
  os::ChildProcess caller(command("call"), {.core = core(cores.near)});
  Measured measured = measured_of(caller.read_all(os::now() + patience).value_or(""), plan);
  (void)echo.wait(os::now() + patience);  // it removes its files
  (void)caller.wait(os::now() + patience);
  return measured;
}

double idle_cost(const Link& link, int seconds) {
  const MakeEnd make = link.make(8);
  const pid_t child = fork_helper();
  double taken = 0;
  std::byte message[sizeof taken]{};
  if (child == 0) {
    const auto end = make(1);
    end->receive(message);
    const double before = processor_seconds();
    end->receive(message);
    taken = processor_seconds() - before;
    std::memcpy(message, &taken, sizeof taken);
    end->send(message);
    end->receive(message);
    _exit(0);
  }
  const auto end = make(0);
  end->send(message);
  os::sleep_until(os::now() + std::chrono::seconds{seconds});
  end->send(message);
  end->receive(message);
  std::memcpy(&taken, message, sizeof taken);
  end->send(message);
  waitpid(child, nullptr, 0);
  return taken;
}

double memcpy_rate(std::size_t size) {
  std::vector<std::byte> from(size, std::byte{1}), to(size);
  constexpr int copies = 2000;
  const Time start = os::now();
  for (int i = 0; i < copies; ++i) {
    std::memcpy(to.data(), from.data(), size);
    asm volatile("" : : "r"(to.data()) : "memory");
  }
  return static_cast<double>(size) * copies * 1e9 / static_cast<double>(nanoseconds_since(start));
}

}  // namespace channels
