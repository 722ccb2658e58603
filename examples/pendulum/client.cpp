// One pendulum: a process that integrates it in real time and asks the remote controller for the next force.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "examples/pendulum/messages.h"
#include "examples/pendulum/pendulumC.h"
#include "examples/pendulum/plant.h"
#include "examples/pendulum/roles.h"
#include "orb/corba/init_orb.h"
#include "orb/core/call_deadline.h"
#include "orb/core/route.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/rt/rt.h"

namespace corelane::pendulum {
namespace {

using ControllerRef = IDL::traits<::Pendulum::Controller>::ref_type;

// Above the priorities of all tasks of the server, so a plant never waits for its controller. The server's platform
// load accounts for the plants.
constexpr int plant_priority = 60;

// A controller that is silent for this long has lost its pendulum. Then the call ends, so that the demo's end does not
// wait for it.
constexpr Duration longest_silence = std::chrono::seconds{1};

double percentile(const std::vector<Duration>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
  return microseconds(sorted[index]);
}

// Returns the next line of standard input; empty at its end. Reads no byte beyond the line: std::cin could buffer a
// second line, and then input_waits() would not see it.
std::string read_word() {
  std::string word;
  for (char next = 0; next != '\n';) {  // bound: the conductor's lines
    const ssize_t got = ::read(STDIN_FILENO, &next, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) return {};
    if (next != '\n') word += next;
  }
  return word;
}

bool input_waits() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, 0) > 0;
}

// The pendulum and its conversation with the controller. One thread.
class Swing {
 public:
  Swing(const ClientOptions& options, ControllerRef controller)
      : options_(options), controller_(std::move(controller)), plant_(options.length, options.seed) {
    responses_.reserve(1'000'000);  // no allocation while time counts
  }

  // Calls once a period until a line arrives on standard input. While a reply is late, the pendulum moves on with the
  // old force.
  void run() {
    const Time start = os::now();
    shown_ = start;
    for (Time release = start; !input_waits(); release = next_release(release)) {
      os::sleep_until(release);
      follow(os::now());
      call();
      if (fell_after_ == 0 && !plant_.stands()) fell_after_ = std::chrono::duration<double>(shown_ - start).count();
    }
  }

  ClientReport report() {
    std::sort(responses_.begin(), responses_.end());
    return {.stands = plant_.stands(),
            .fell_after = fell_after_,
            .worst_angle = plant_.worst_angle(),
            .calls = responses_.size(),
            .late = late_,
            .failed = failed_,
            .p50 = percentile(responses_, 0.5),
            .p99 = percentile(responses_, 0.99),
            .max = percentile(responses_, 1),
            .trouble = trouble_};
  }

 private:
  // Skips a release that passed while a call was under way: a periodic task does not catch up.
  Time next_release(Time release) const {
    const Time next = release + options_.contract.period;
    const Time now = os::now();
    if (now <= next) return next;
    return next + (now - next) / options_.contract.period * options_.contract.period;
  }

  void follow(Time now) {
    plant_.advance(now - shown_, force_);
    shown_ = now;
  }

  void call() {
    const Time sent = os::now();
    const core::CallDeadline bound(sent + longest_silence);
    try {
      const ::Pendulum::State state(plant_.posture().angle, plant_.posture().rate, plant_.length());
      const double next = controller_->force(state, options_.effort.count());
      const Time answered = os::now();
      follow(answered);
      force_ = next;
      if (responses_.size() < responses_.capacity()) responses_.push_back(answered - sent);
      late_ += answered - sent > options_.contract.deadline;
    } catch (const CORBA::SystemException& failure) {
      follow(os::now());
      trouble_ = failure.what();
      ++failed_;
    }
  }

  const ClientOptions& options_;
  ControllerRef controller_;
  Plant plant_;
  Time shown_{};  // the pendulum has been integrated up to this time
  double force_ = 0;
  double fell_after_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t failed_ = 0;
  std::string trouble_;
  std::vector<Duration> responses_;
};

ClientAnswer answer_of(const Expected<rt::Task, rt::Refusal>& task, const ControllerRef& controller) {
  const std::string way = core::route_of(*controller->_reference()).text;
  if (task) return {.admitted = true, .task = task->id().value, .reason = {}, .way = way};
  return {.admitted = false, .task = 0, .reason = task.error().text, .way = way};
}

}  // namespace

int swing(const ClientOptions& options, const OrbOptions& orb_options) {
  auto orb = corba::init_orb(orb_options);
  auto controller = IDL::traits<::Pendulum::Controller>::narrow(orb->string_to_object(options.reference));
  if (!controller) return std::cerr << "the reference names no pendulum controller\n", 1;
  const auto task = rt::admit(controller, {.operation = "force", .contract = options.contract});
  std::cout << line_of(answer_of(task, controller)) << std::flush;
  const std::string word = task ? read_word() : "";
  if (word.empty()) return orb->destroy(), 0;

  Swing pendulum(options, controller);
  if (word == "go") {
    auto thread = os::start_thread({.name = "plant", .fifo_priority = plant_priority}, [&] { pendulum.run(); });
    if (!thread) return 1;
    thread->join();
  }
  std::cout << line_of(pendulum.report()) << std::flush;
  orb->destroy();
  return 0;
}

}  // namespace corelane::pendulum
