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

#include "examples/pendulum/messages.h"
#include "examples/pendulum/orb_options.h"
#include "examples/pendulum/pendulumC.h"
#include "examples/pendulum/roles.h"
#include "examples/pendulum/table.h"
#include "orb/corba/orb.h"
#include "orb/os/child_process.h"
#include "orb/os/clock.h"
#include "orb/os/privileges.h"

namespace corelane::pendulum {
namespace {

using namespace std::chrono_literals;

// What a pendulum of each length needs, shortest first. Every one takes part of a core: 0.20, 0.25, 0.30.
struct Kind {
  double length;
  Contract contract;
};
const Kind kinds[] = {
    {0.4, make_contract(10ms, 2ms, 8ms)},
    {0.8, make_contract(20ms, 5ms, 18ms)},
    {1.6, make_contract(40ms, 12ms, 38ms)},
};

double utilization(const Contract& contract) {
  return static_cast<double>(contract.budget.count()) / static_cast<double>(contract.period.count());
}

// Half as many again as fit by utilization alone.
int more_than_fit(double capacity) {
  double mean = 0;
  for (const Kind& kind : kinds) mean += utilization(kind.contract) / static_cast<double>(std::size(kinds));
  return static_cast<int>(std::ceil(1.5 * capacity / mean));
}

struct Client {
  std::string label;
  Kind kind;
  os::ChildProcess process;
  ClientAnswer answer{};
  ClientReport report{};
};

std::vector<std::string> arguments_of(const std::string& label, const Kind& kind, const std::string& reference,
                                      int seed) {
  const Contract& c = kind.contract;
  return {"swing",
          "--reference",
          reference,
          "--label",
          label,
          "--period",
          to_string(c.period),
          "--deadline",
          to_string(c.deadline),
          "--budget",
          to_string(c.budget),
          "--jitter",
          to_string(c.jitter),
          "--length",
          std::to_string(kind.length),
          "--seed",
          std::to_string(seed)};
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
    controller_of(orb)->configure("brisk");
    controller_ = controller_of(progress_orb);
  }

  int run() {
    introduce();
    gather();
    const Time start = os::now();
    for (Client& client : clients_)
      if (client.answer.admitted) client.process.write_line("go");
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
  }

  // Clients arrive one after another, as they would in life; each knows before the next comes whether it may run.
  void gather() {
    const int count = options_.pendulums > 0 ? options_.pendulums : more_than_fit(ready_.capacity);
    for (int i = 0; i < count && interrupted == 0; ++i) {
      const Kind& kind = kinds[static_cast<std::size_t>(i) % std::size(kinds)];
      const std::string label = format("pendulum %d", i + 1);
      clients_.push_back({label, kind, start(arguments_of(label, kind, ready_.reference, i + 1))});
      Client& client = clients_.back();
      client.answer = message_of<ClientAnswer>(expect_line(client.process, label));
      std::cout << "  " << label << (client.answer.admitted ? ": admitted\n" : ": refused\n") << std::flush;
    }
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
      if (client.answer.admitted) client.process.write_line("stop");
    for (Client& client : clients_) {
      if (!client.answer.admitted) continue;
      client.report = message_of<ClientReport>(expect_line(client.process, client.label));
    }
    server_.write_line("stop");
    report_ = message_of<ServerReport>(expect_line(server_, "the control service"));
    (void)server_.wait(os::now() + 20s);  // it may have a trace to write
  }

  const TaskRow* row_of(const Client& client) const {
    const auto found = std::find_if(report_.tasks.begin(), report_.tasks.end(),
                                    [&](const TaskRow& row) { return row.task == client.answer.task; });
    return found == report_.tasks.end() ? nullptr : &*found;
  }

  int conclude() {
    print_tasks();
    print_refusals();
    print_honesty();
    return verdict();
  }

  void print_tasks() const {
    Table table({"task", "T ms", "D ms", "C ms", "core", "prio", "jobs", "misses", "excused", "p50 ms", "p99 ms",
                 "max ms", "bound ms", "pendulum"});
    for (const Client& client : clients_) {
      const TaskRow* row = client.answer.admitted ? row_of(client) : nullptr;
      if (row == nullptr) continue;
      const Contract& c = client.kind.contract;
      table.add({client.label, milliseconds(c.period), milliseconds(c.deadline), milliseconds(c.budget),
                 std::to_string(row->core), std::to_string(row->priority), std::to_string(row->jobs),
                 std::to_string(row->misses), std::to_string(row->excused), format("%.2f", row->p50 / 1000),
                 format("%.2f", row->p99 / 1000), format("%.2f", row->max / 1000),
                 row->bound > 0 ? format("%.2f", row->bound / 1000) : "-", posture(client.report)});
    }
    std::cout << "\n" << table.text();
  }

  static std::string posture(const ClientReport& report) {
    if (!report.trouble.empty() && report.calls == 0) return "no answer";
    if (report.stands) return format("stands (worst %.0f deg)", report.worst_angle * 57.3);
    return format("FELL after %.1f s", report.fell_after);
  }

  void print_refusals() const {
    for (const Client& client : clients_)
      if (!client.answer.admitted) std::cout << "\n" << client.label << " was refused: " << client.answer.reason;
    std::cout << "\n";
  }

  void print_honesty() const {
    std::cout
        << format(
               "\nStalls above 20 us that were not the program's doing: %llu, the longest %.2f ms, %.2f ms of "
               "%.1f s observed.\n",
               static_cast<unsigned long long>(report_.gaps), report_.longest_gap / 1000, report_.total_gap / 1000,
               report_.observed / 1e6)
        << "A miss is excused only when such stalls on its core, inside its job's response, last at least as "
           "long as it was late.\n"
        << "\"bound\" is the response that was computed at the admission, for the program's own work. Stalls come on "
           "top of it, so \"max\" may lie above; what is promised is the deadline, and bound <= D is why it holds.\n";
    if (report_.dropped_oneways > 0)
      std::cout << "Oneway requests that the service dropped: " << report_.dropped_oneways << "\n";
    for (const Client& client : clients_)
      if (!client.report.trouble.empty()) std::cout << client.label << ": " << client.report.trouble << "\n";
  }

  // What became of the pendulums that ran.
  struct Tally {
    long admitted = 0;
    long fallen = 0;
    unsigned long long misses = 0;
    unsigned long long excused = 0;
    unsigned long long failed = 0;  // calls that ended in an exception
  };

  Tally tally() const {
    Tally sum;
    for (const Client& client : clients_) {
      if (!client.answer.admitted) continue;
      ++sum.admitted;
      sum.fallen += client.report.stands ? 0 : 1;
      sum.failed += client.report.failed;
      if (const TaskRow* row = row_of(client)) sum.misses += row->misses, sum.excused += row->excused;
    }
    return sum;
  }

  int verdict() const {
    const Tally sum = tally();
    std::cout << format(
        "\n%ld of %zu pendulums ran, %ld stand, %ld fell; deadlines missed: %llu, of these %llu excused.\n",
        sum.admitted, clients_.size(), sum.admitted - sum.fallen, sum.fallen, sum.misses, sum.excused);
    if (!ready_.promises) {
      std::cout << "Without admission control nothing was promised. Run the demo without "
                << (options_.admission ? "-ORBDispatchMode leader-followers" : "--no-admission")
                << " for the contrast.\n";
      return 0;
    }
    if (sum.admitted == 0) {
      std::cout << "No pendulum was admitted, so nothing was shown: do other programs hold this machine's cores?\n";
      return 1;
    }
    if (sum.failed > 0) return broken(format("%llu calls of admitted tasks failed", sum.failed));
    if (sum.misses > sum.excused)
      return broken("an admitted task missed a deadline that no stall of the host explains");
    std::cout << "Every promise was kept: no admitted task missed a deadline for a reason inside the program.\n";
    return 0;
  }

  static int broken(const std::string& how) {
    std::cout << "A PROMISE WAS BROKEN: " << how << ".\n";
    if (!os::privileges().fifo)
      std::cout
          << "Without the privilege for SCHED_FIFO this is to be expected: any other program may hold the cores.\n";
    return 1;
  }

  const ConductorOptions options_;
  const OrbOptions orb_options_;
  os::ChildProcess server_;
  ServerReady ready_;
  ServerReport report_;
  CORBA::object_reference<::Pendulum::Controller> controller_;
  std::vector<Client> clients_;
};

}  // namespace

int conduct(const ConductorOptions& options, const OrbOptions& orb_options) {
  OrbOptions progress_options = orb_options;
  progress_options.insert(progress_options.end(), {"-ORBid", "progress", "-ORBTimeoutRequest", "300ms"});
  end_on_signals();
  auto orb = init_orb(orb_options), progress_orb = init_orb(progress_options);
  const int status = Conductor(options, orb_options, *orb, *progress_orb).run();
  progress_orb->destroy();
  orb->destroy();
  return status;
}

}  // namespace corelane::pendulum
