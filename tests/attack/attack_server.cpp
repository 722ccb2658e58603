// corelane-attack-server is the server that the attack battery attacks, and the client that it kills.
//
//   corelane-attack-server serve [-ORBOption VALUE ...]
//       serves a Probe; prints its reference, and where it listens. note() of a text that begins with "slow" blocks,
//       and pass() calls the object that it is given. The line "release" lets note() and block() return. It answers the
//       line "jobs" with how its tasks' jobs kept their bounds (PacedJobs::judge). Ends when its standard input ends.
//   corelane-attack-server call REFERENCE [-ORBOption VALUE ...]
//       asks for a task, calls echo() with long texts forever, and prints a line after each call
//   corelane-attack-server steady PERIOD_MS OPERATION@REFERENCE ...
//       calls each object once in a period: add, or paced, for which it asks for a task. It answers each line of its
//       standard input with one line for each object: how many calls were answered and how many failed since the last
//       time, and how many microseconds each one took. Ends when its standard input ends.
//   corelane-attack-server usurp NAMES NAME
//       tries to take over the name, to unbind it, and to fill its context with other names, at a nameserver's root
//       context. Prints how many of those changes were made.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <iostream>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CosNamingC.h"
#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "orb/transport/endpoint.h"
#include "tests/attack/paced_jobs.h"
#include "tests/support/probe_servant.h"

namespace {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

class AttackedServant : public ProbeServant {
 public:
  void note(const std::string& text) override {
    if (text.starts_with("slow")) released.wait(false);
  }
  CORBA::object_reference<Probing::Probe> pass(CORBA::object_reference<Probing::Probe> other) override {
    if (other) other->ping();
    return other;
  }
  std::int32_t paced(std::int32_t number) override {
    if (jobs != nullptr) jobs->note();
    return number;
  }
  attack::PacedJobs* jobs = nullptr;  // set before it serves
};

// Unlike TestOrb it keeps every default.
CORBA::object_reference<CORBA::ORB> default_orb(const std::vector<std::string>& options) {
  std::vector<std::string> words{"attack"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  return CORBA::ORB_init(argc, argv.data());
}

int serve(const std::vector<std::string>& options) {
  const auto orb = default_orb(options);
  const auto root = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  const auto servant = CORBA::make_reference<AttackedServant>();
  attack::PacedJobs jobs(*orb);
  servant->jobs = &jobs;
  root->the_POAManager()->activate();
  std::cout << orb->object_to_string(root->servant_to_reference(servant)) << "\n"
            << transport::to_string(orb->endpoints()) << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "release") servant->release();
    if (line == "jobs") std::cout << jobs.judge() << std::endl;
  }
  servant->release();
  orb->destroy();
  return 0;
}

int call(const std::string& reference, const std::vector<std::string>& options) {
  TestOrb orb(options);
  const auto probe = probe_of(orb, reference);
  std::optional<rt::Task> task;
  try {
    if (auto admitted = rt::admit(probe, {.operation = "add", .contract = make_contract(50ms, 100us, 50ms, 5ms)}))
      task = std::move(*admitted);
  } catch (const CORBA::SystemException&) {  // another ORB's server knows no tasks
  }
  const std::string text(100'000, 'x');
  for (;;) {  // until it is killed
    if (probe->echo(text) != text) return 1;
    if (task) (void)probe->add(1, 1);
    std::cout << "answered" << std::endl;
  }
}

// One object's calls.
class SteadyCaller {
 public:
  SteadyCaller(const std::string& word, std::chrono::milliseconds period)
      : paced_(word.starts_with("paced@")),
        orb_({"-ORBTimeoutRequest", "100s", "-ORBTimeoutConnect", "100s", "-ORBLogLevel", "off"}),
        probe_(probe_of(orb_, word.substr(word.find('@') + 1))),
        period_(period) {
    if (paced_)
      if (auto task = rt::admit(probe_, {.operation = "paced", .contract = make_contract(50ms, 500us, 50ms, 5ms)}))
        task_ = std::move(*task);
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  std::string report() {
    std::ostringstream line;
    const std::lock_guard lock(mutex_);
    line << times_.size() << " " << failed_;
    for (const auto time : times_) line << " " << time;
    times_.clear();
    failed_ = 0;
    return line.str();
  }

 private:
  void run(const std::stop_token& stop) {
    std::int32_t number = 0;
    for (Time due = os::now(); !stop.stop_requested(); due = std::max(due + period_, os::now())) {
      os::sleep_until(due);  // sleep: the pace of the calls
      ++number;
      const Time begun = os::now();
      std::string fault;
      try {
        if (paced_ && !task_) fault = "no task was admitted";
        if ((paced_ ? probe_->paced(number) : probe_->add(number, 0)) != number) fault = "a wrong answer";
      } catch (const CORBA::SystemException& raised) {
        fault = raised.what();
      }
      const auto time = std::chrono::duration_cast<std::chrono::microseconds>(os::now() - begun).count();
      if (!fault.empty()) std::cerr << (paced_ ? "paced: " : "add: ") + fault + "\n";
      const std::lock_guard lock(mutex_);
      if (fault.empty())
        times_.push_back(time);
      else
        ++failed_;
    }
  }

  const bool paced_;
  TestOrb orb_;  // of its own: one thread never needs a second connection
  const CORBA::object_reference<Probing::Probe> probe_;
  const std::chrono::milliseconds period_;
  std::optional<rt::Task> task_;
  std::mutex mutex_;
  std::vector<std::int64_t> times_;
  std::size_t failed_ = 0;
  std::jthread thread_;  // last: it uses the others
};

int call_steadily(const std::vector<std::string>& words) {
  std::deque<SteadyCaller> callers;
  for (std::size_t i = 1; i < words.size(); ++i)
    callers.emplace_back(words[i], std::chrono::milliseconds(std::stol(words[0])));
  for (std::string line; std::getline(std::cin, line);) {
    for (SteadyCaller& caller : callers) std::cout << caller.report() << "\n";
    std::cout.flush();
  }
  return 0;
}

int usurp(const std::string& reference, const std::string& name) {
  TestOrb orb({"-ORBLogLevel", "off"});
  const auto names = IDL::traits<CosNaming::NamingContext>::narrow(orb->string_to_object(reference));
  const auto named = [](const std::string& id) { return CosNaming::Name{CosNaming::NameComponent(id, "")}; };
  int made = 0;
  const auto try_to = [&](const auto& change) {
    try {
      change();
      ++made;
    } catch (const CORBA::Exception&) {
    }
  };
  try_to([&] { names->rebind(named(name), names); });
  try_to([&] { names->rebind_context(named(name), names); });
  try_to([&] { names->unbind(named(name)); });
  for (int i = 0; i < 1000; ++i) try_to([&] { names->bind(named("filler" + std::to_string(i)), names); });
  std::cout << made << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 1 && words[0] == "serve") return serve({words.begin() + 1, words.end()});
  if (words.size() >= 2 && words[0] == "call") return call(words[1], {words.begin() + 2, words.end()});
  if (words.size() >= 3 && words[0] == "steady") return call_steadily({words.begin() + 1, words.end()});
  if (words.size() == 3 && words[0] == "usurp") return usurp(words[1], words[2]);
  throw std::runtime_error("serve, call REFERENCE, steady PERIOD_MS OPERATION@REFERENCE ..., or usurp NAMES NAME");
} catch (const std::exception& fault) {
  std::cerr << "corelane-attack-server: " << fault.what() << "\n";
  return 2;
}
