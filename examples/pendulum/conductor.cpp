// The conductor: starts the control service and more pendulums than the machine carries, shows progress, and tells
// what became of each.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "examples/pendulum/budgets.h"
#include "examples/pendulum/closing.h"
#include "examples/pendulum/messages.h"
#include "examples/pendulum/pendulumC.h"
#include "examples/pendulum/roles.h"
#include "examples/pendulum/table.h"
#include "orb/corba/init_orb.h"
#include "orb/os/child_process.h"
#include "orb/os/clock.h"
#include "orb/os/privileges.h"

namespace corelane::pendulum {
namespace {

using namespace std::chrono_literals;

double utilization(const Contract& contract) {
  return static_cast<double>(contract.budget.count()) / static_cast<double>(contract.period.count());
}

// Half as many again as fit by utilization alone.
int more_than_fit(double capacity, const std::vector<Contract>& contracts) {
  double mean = 0;
  for (const Contract& contract : contracts) mean += utilization(contract) / static_cast<double>(contracts.size());
  return static_cast<int>(std::ceil(1.5 * capacity / mean));
}

struct Client {
  Participant part;
  os::ChildProcess process;
};

std::vector<std::string> arguments_of(const Participant& part, const Kind& kind, const std::string& reference) {
  const Contract& contract = part.contract;
  return {"swing",
          "--reference",
          reference,
          "--period",
          to_string(contract.period),
          "--deadline",
          to_string(contract.deadline),
          "--budget",
          to_string(contract.budget),
          "--jitter",
          to_string(contract.jitter),
          "--effort",
          to_string(kind.effort),
          "--length",
          std::to_string(kind.length),
          "--seed",
          std::to_string(part.number)};
}

// One line from a child that is expected to answer; its death is an error that names it.
std::string expect_line(os::ChildProcess& child, const std::string& who) {
  if (auto line = child.read_line(os::now() + 20s)) return *line;
  throw std::runtime_error(who + " gave no answer: it ended early or hangs; its own message stands above");
}

// Set by SIGINT and SIGTERM: the demo ends early, but ends: everybody is told, traces are written, the table is shown.
// A second signal ends it at once, and its processes with it.
volatile std::sig_atomic_t interrupted = 0;

void end_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

class Conductor {
 public:
  // Calls of `progress_orb` are given up after a moment, so that an overloaded service does not hold up the end.
  Conductor(const ConductorOptions& options, const OrbOptions& orb_options, CORBA::ORB& orb, CORBA::ORB& progress_orb)
      : options_(options), orb_options_(orb_options), server_(start(server_arguments())) {
    ready_ = message_of<ServerReady>(expect_line(server_, "the control service"));
    contracts_ = contracts_for({ready_.executions.begin(), ready_.executions.end()});
    controller_of(orb)->configure("brisk");
    controller_ = controller_of(progress_orb);
  }

  int run() {
    introduce();
    gather();
    const Time start = os::now();
    for (Client& client : clients_)
      if (client.part.answer.admitted) client.process.write_line("go");
    watch(start);
    dismiss();
    return conclude();
  }

 private:
  // Another process of this very program.
  os::ChildProcess start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "/proc/self/exe");
    arguments.insert(arguments.end(), orb_options_.begin(), orb_options_.end());
    return os::ChildProcess(arguments);
  }
  std::vector<std::string> server_arguments() const {
    return options_.admission ? std::vector<std::string>{"serve"} : std::vector<std::string>{"serve", "--no-admission"};
  }

  CORBA::object_reference<::Pendulum::Controller> controller_of(CORBA::ORB& orb) const {
    return IDL::traits<::Pendulum::Controller>::narrow(orb.string_to_object(ready_.reference));
  }

  void introduce() const {
    std::cout << "Corelane pendulum demo: a controller " << (ready_.promises ? "holds " : "runs on ")
              << ready_.cores.size() << " core(s), " << format("%.2f", ready_.capacity) << " of them for tasks"
              << (ready_.promises ? ".\n" : "; admission control is OFF.\n");
    std::cout << "Measured with all of them busy, and declared as budget with " << budget_margin_percent
              << " % on top:\n";
    for (std::size_t i = 0; i < kinds.size(); ++i)
      std::cout << "  a rod of "
                << format("%.1f m: at most %.2f ms", kinds[i].length, static_cast<double>(ready_.executions[i]) / 1e6)
                << " for a force, so " << milliseconds(contracts_[i].budget) << " ms every "
                << milliseconds(contracts_[i].period) << " ms\n";
  }

  // Clients arrive one after another, as they would in life; each knows before the next comes whether it may run.
  void gather() {
    const int count = options_.pendulums > 0 ? options_.pendulums : more_than_fit(ready_.capacity, contracts_);
    for (int number = 1; number <= count && interrupted == 0; ++number) {
      const std::size_t kind = static_cast<std::size_t>(number - 1) % kinds.size();
      const Participant part{.number = number, .contract = contracts_[kind]};
      clients_.push_back({part, start(arguments_of(part, kinds[kind], ready_.reference))});
      answer_of(clients_.back());
    }
  }

  void answer_of(Client& client) const {
    client.part.answer = message_of<ClientAnswer>(expect_line(client.process, client.part.label()));
    std::cout << "  " << client.part.label() << (client.part.answer.admitted ? ": admitted\n" : ": refused\n")
              << std::flush;
  }

  void watch(Time start) {
    const Time end = start + options_.length;
    const bool terminal = ::isatty(STDOUT_FILENO) != 0;
    for (Time now = start; now < end && interrupted == 0; now = os::now()) {
      std::this_thread::sleep_for(std::min<Duration>(end - now, terminal ? 250ms : 1s));
      show_progress(std::min(os::now(), end) - start, terminal);
    }
    std::cout << "\n";
  }

  void show_progress(Duration gone, bool terminal) {
    std::string state;
    try {
      state = format("%lld forces computed", static_cast<long long>(controller_->watch().answered()));
    } catch (const CORBA::SystemException& failure) {
      state = std::string("the service does not answer the demo itself: ") + failure._rep_id();
    }
    const double share = std::chrono::duration<double>(gone) / std::chrono::duration<double>(options_.length);
    const auto filled = static_cast<std::size_t>(share * 30);
    std::cout << (terminal ? "\r" : "\n") << "[" << std::string(filled, '#') << std::string(30 - filled, '.') << "] "
              << format("%4.1f s  ", std::chrono::duration<double>(gone).count()) << state << (terminal ? "    " : "")
              << std::flush;
  }

  // All are told before any is waited for: the others would swing on meanwhile.
  void dismiss() {
    for (Client& client : clients_)
      if (client.part.answer.admitted) client.process.write_line("stop");
    for (Client& client : clients_) {
      if (!client.part.answer.admitted) continue;
      client.part.report = message_of<ClientReport>(expect_line(client.process, client.part.label()));
    }
    server_.write_line("stop");
    report_ = message_of<ServerReport>(expect_line(server_, "the control service"));
    (void)server_.wait(os::now() + 20s);  // it may have a trace to write
  }

  int conclude() const {
    std::vector<Participant> participants;
    for (const Client& client : clients_) participants.push_back(client.part);
    const Closing closing = closing_of(participants, ready_, report_,
                                       {.admission = options_.admission, .real_time = os::privileges().fifo});
    std::cout << closing.text << std::flush;
    return closing.status;
  }

  const ConductorOptions options_;
  const OrbOptions orb_options_;
  os::ChildProcess server_;
  ServerReady ready_;
  ServerReport report_;
  CORBA::object_reference<::Pendulum::Controller> controller_;
  std::vector<Contract> contracts_;  // by kind
  std::vector<Client> clients_;
};

}  // namespace

int conduct(const ConductorOptions& options, const OrbOptions& orb_options) {
  OrbOptions progress_options = orb_options;
  progress_options.insert(progress_options.end(), {"-ORBid", "progress", "-ORBTimeoutRequest", "300ms"});
  end_on_signals();
  auto orb = corba::init_orb(orb_options), progress_orb = corba::init_orb(progress_options);
  const int status = Conductor(options, orb_options, *orb, *progress_orb).run();
  progress_orb->destroy();
  orb->destroy();
  return status;
}

}  // namespace corelane::pendulum
