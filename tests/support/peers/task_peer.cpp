// corelane-task-peer is a server or a client with tasks, in a separate process. Tests stop it, start it on one core, or
// let its date jump. It obeys the lines of its standard input, and answers each with one line.
//
//   corelane-task-peer serve [-ORBOption VALUE ...]
//       serves a Probe and prints its reference
//         report    answers "cores C tasks T misses M": the tasks that clients have now, and their misses
//         blocked   waits until a call of block() runs, and answers the same
//         release   lets calls of block() return, and answers the same
//   corelane-task-peer client REFERENCE PERIOD DEADLINE [-ORBOption VALUE ...]
//       asks for a task of add(), with this period and deadline in ms and a budget of 100us; prints "admitted" or
//       "refused REASON"
//         add N     calls the task N times in sequence: "N right in NANOSECONDS ns" of the monotonic clock
//         go        starts a thread that calls the task all the time, and waits until one call has been answered
//         halt      ends that thread: "N right"
//         block     starts a thread that calls block()
//         unblock   waits for that call: "answered", or the text of its exception
//         ask SHARE asks for another task, whose budget is SHARE thousandths of its period: "admitted" or
//                   "refused REASON"
//       A call that raises an exception is answered with the text of the exception.
// Both end when their standard input ends.
#include <atomic>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "tests/support/in_time.h"
#include "tests/support/probe_servant.h"

namespace {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

void say(const std::string& line) { std::cout << line << std::endl; }

int serve(const std::vector<std::string>& options) {
  ProbeServer server(options);
  say(server.ior());
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "blocked") server.servant->wait_until_blocked();
    if (line == "release") server.servant->release();
    const auto report = rt::report(*server.orb.orb);
    std::uint64_t tasks = 0, misses = 0;
    for (const auto& task : report.tasks) {
      if (task.owner == PeerId{}) continue;  // the task that all callers share: paced()
      tasks += task.gone ? 0 : 1;
      misses += task.misses;
    }
    say("cores " + std::to_string(report.cores.size()) + " tasks " + std::to_string(tasks) + " misses " +
        std::to_string(misses));
  }
  return 0;
}

class Client {
 public:
  Client(const std::string& reference, Duration period, Duration deadline, const std::vector<std::string>& options)
      : reference_(reference), contract_(make_contract(period, 100us, deadline, 1ms)), orb_(options) {
    say(admit(probe_, contract_));
  }
  ~Client() { halt(); }

  std::string obey(const std::string& line) try {
    std::istringstream words(line);
    std::string word;
    int number = 0;
    words >> word >> number;
    if (word == "add") return add(number);
    if (word == "go") return go();
    if (word == "halt") return halt();
    if (word == "block") return block();
    if (word == "unblock") return blocked_.join(), outcome_;
    if (word == "ask") return ask(number);
    throw std::runtime_error("no such order: " + line);
  } catch (const CORBA::SystemException& fault) {
    return fault.what();
  }

 private:
  using ProbeReference = CORBA::object_reference<Probing::Probe>;

  // Admission may be asked for again after TIMEOUT. By then the client has cancelled the first request, on the same
  // connection. The server withdraws a task that was admitted that way, or will be, and was never used.
  std::string admit(const ProbeReference& probe, const Contract& contract) {
    auto task = in_time([&] { return rt::admit(probe, {.operation = "add", .contract = contract}); });
    if (!task) return "refused " + std::string(sched::name_of(task.error().reason.code));
    tasks_.push_back(std::move(*task));
    return "admitted";
  }
  void call() {
    const std::int32_t number = ++called_;
    if (probe_->add(number, 1) != number + 1) throw std::runtime_error("the answer of another call");
    // relaxed: read after the join, or to see that the count grows
    right_.fetch_add(1, std::memory_order_relaxed);
  }
  std::string add(int times) {
    const Time begin = os::now();
    right_ = 0;
    for (int i = 0; i < times; ++i) call();
    return std::to_string(right_) + " right in " + std::to_string((os::now() - begin).count()) + " ns";
  }
  std::string go() {
    right_ = 0, stopping_ = false;
    calls_ = std::thread([this] {
      while (!stopping_) call();
    });
    while (right_ == 0) std::this_thread::yield();  // bound: the first answer
    return "going";
  }
  std::string halt() {
    stopping_ = true;
    if (calls_.joinable()) calls_.join();
    return std::to_string(right_) + " right";
  }
  std::string block() {
    blocked_ = std::thread([this] {
      try {
        probe_->block();
        outcome_ = "answered";
      } catch (const CORBA::SystemException& fault) {
        outcome_ = fault.what();
      }
    });
    return "calling";
  }
  std::string ask(int share) {
    Contract contract = contract_;
    contract.budget = contract.period * share / 1000;
    return admit(probe_of(orb_, reference_), contract);
  }

  const std::string reference_;
  const Contract contract_;
  TestOrb orb_;
  const ProbeReference probe_ = probe_of(orb_, reference_);
  std::vector<rt::Task> tasks_;
  std::int32_t called_ = 0;  // used by one thread at a time
  std::atomic<std::int32_t> right_{0};
  std::atomic<bool> stopping_{false};
  std::thread calls_, blocked_;
  std::string outcome_;
};

int be_client(const std::vector<std::string>& words, const std::vector<std::string>& options) {
  const auto duration = [&](std::size_t i) { return std::chrono::milliseconds{std::stoi(words.at(i))}; };
  Client client(words.at(1), duration(2), duration(3), options);
  for (std::string line; std::getline(std::cin, line);) say(client.obey(line));
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> words, options;
  for (int i = 1; i < argc; ++i) {
    auto& into = std::string(argv[i]).starts_with("-ORB") && i + 1 < argc ? options : words;
    into.emplace_back(argv[i]);
    if (&into == &options) options.emplace_back(argv[++i]);
  }
  if (words.empty()) throw std::runtime_error("serve, or client REFERENCE PERIOD DEADLINE (in ms)");
  return words[0] == "serve" ? serve(options) : be_client(words, options);
} catch (const std::exception& fault) {
  std::cerr << "corelane-task-peer: " << fault.what() << "\n";
  return 2;
}
