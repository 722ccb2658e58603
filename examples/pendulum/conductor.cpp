// The conductor. Starts the control service and more pendulums than the machine can serve, shows progress, and reports
// the outcome of each pendulum.
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "examples/pendulum/budgets.h"
#include "examples/pendulum/closing.h"
#include "examples/pendulum/messages.h"
#include "examples/pendulum/pendulumC.h"
#include "examples/pendulum/roles.h"
#include "examples/pendulum/stage.h"
#include "examples/pendulum/table.h"
#include "orb/base/text/counted.h"
#include "orb/corba/init_orb.h"
#include "orb/core/runtime.h"
#include "orb/dispatch/counter_page.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/privileges.h"
#include "orb/os/process/child_process.h"
#include "orb/os/socket_path.h"

namespace corelane::pendulum {
namespace {

using namespace std::chrono_literals;

double utilization(const Contract& contract) {
  return static_cast<double>(contract.budget.count()) / static_cast<double>(contract.period.count());
}

// Returns more pendulums than fit by utilization: one and a half times as many. Without admission control it returns
// more, so that as many pendulums fall even if jobs take half of their budgets.
int more_than_fit(double capacity, const std::vector<Contract>& contracts, bool admission) {
  double mean = 0;
  for (const Contract& contract : contracts) mean += utilization(contract) / static_cast<double>(contracts.size());
  return static_cast<int>(std::ceil((admission ? 1.5 : 2.5) * capacity / mean));
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

constexpr Duration patience = 20s;  // how long to wait for an answer

// Reads one line from a child process that must answer. Raises an error with its name if it does not.
std::string expect_line(os::ChildProcess& child, const std::string& who) {
  if (auto line = child.read_line(os::now() + patience)) return *line;
  throw std::runtime_error(who + " gave no answer: it ended early or hangs; its own message stands above");
}

// Set by SIGINT, SIGTERM and SIGHUP. The demo then ends early but in order: it stops its processes, waits for traces
// and shows the table.
volatile std::sig_atomic_t interrupted = 0;

// Installs the handlers. A second SIGINT or SIGTERM ends the demo at once, and its processes with it. SIGHUP comes
// twice when a terminal is closed, from the kernel and from the shell, so a second one does not end the demo at once.
// If SIGHUP is ignored, as under nohup, it stays ignored. SIGPIPE gets a handler that does nothing: a reader that has
// gone shows in std::cout. The demo's processes would inherit SIG_IGN, but do not inherit a handler.
void end_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = SA_RESTART;
  struct sigaction before {};
  if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
  action.sa_flags |= static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  action.sa_flags = SA_RESTART;
  action.sa_handler = [](int) {};
  ::sigaction(SIGPIPE, &action, nullptr);
}

// Returns whether the demo has to end early: after a signal, or when standard output cannot be written.
bool is_to_end() { return interrupted != 0 || !std::cout; }

// Returns 0 if standard output is not a terminal or the width is unknown.
std::size_t columns_of_terminal() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Removes sockets and counters of a server that was killed. A server that ends in order removes its own.
void remove_leavings(const std::string& directory, pid_t process) {
  const std::string number = std::to_string(process);
  std::vector<std::string> sockets;
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(directory, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(number + ".") && name.ends_with(".sock")) sockets.push_back(entry->path());
  }
  for (const std::string& socket : sockets) (void)os::SocketPath::claim(socket);  // also releases it, with its lock
  (void)dispatch::remove_stale_page(directory + "/counters-" + number);
}

// Returns the traces that the service wrote when a deadline was missed; see docs/recorder.md.
std::vector<std::string> traces_of(pid_t process, const core::Settings& settings) {
  const std::string& set = settings.executive.recorder.directory;
  const std::string mine = "-" + std::to_string(process) + "-miss-";
  std::vector<std::string> traces;
  std::error_code ignored;
  for (std::filesystem::directory_iterator
           entry(set.empty() ? core::runtime_directory_of(settings) + "/traces" : set, ignored),
       end;
       !ignored && entry != end; entry.increment(ignored))
    if (entry->path().filename().string().find(mine) != std::string::npos) traces.push_back(entry->path());
  return traces;
}

// The demo's processes log only problems, unless the given options say otherwise: later options override earlier ones.
OrbOptions with_short_log(const OrbOptions& given) {
  OrbOptions options{"-ORBLogLevel", "warn"};
  options.insert(options.end(), given.begin(), given.end());
  return options;
}

class Conductor {
 public:
  // Calls with `progress_orb` time out soon, so that an overloaded service does not delay the demo. Calls to the
  // daemons use `orb` and may take longer: the demo reports what they answer.
  Conductor(const ConductorOptions& options, const OrbOptions& orb_options, CORBA::ORB& orb, CORBA::ORB& progress_orb)
      : options_(options),
        orb_options_(orb_options),
        orb_(orb),
        stage_(options.reserving, orb_options, orb),
        server_(start(server_arguments(), stage_.service_options())),
        service_(server_.pid()) {
    ready_ = message_of<ServerReady>(expect_line(server_, "the control service"));
    contracts_ = contracts_for({ready_.executions.begin(), ready_.executions.end()}, ready_.margin);
    controller_of(orb)->configure("brisk");
    controller_ = controller_of(progress_orb);
  }

  int run() {
    introduce();
    gather();
    if (!is_to_end() && service_end_.empty()) swing_all();
    dismiss();
    return conclude();
  }

 private:
  // Starts another process of this same program.
  os::ChildProcess start(std::vector<std::string> arguments, const OrbOptions& surroundings) const {
    arguments.insert(arguments.begin(), "/proc/self/exe");
    arguments.insert(arguments.end(), surroundings.begin(), surroundings.end());
    const OrbOptions given = with_short_log(orb_options_);
    arguments.insert(arguments.end(), given.begin(), given.end());
    return os::ChildProcess(arguments);
  }
  std::vector<std::string> server_arguments() const {
    std::vector<std::string> arguments{"serve"};
    if (!options_.admission) arguments.emplace_back("--no-admission");
    if (stage_.names().runs()) arguments.insert(arguments.end(), {"--name", service_name});
    return arguments;
  }
  // Returns the service's name if it has one, else its reference.
  std::string reference_for_clients() const {
    return ready_.unnamed.empty() ? std::string("corbaname:rir:#") + service_name : ready_.reference;
  }

  CORBA::object_reference<::Pendulum::Controller> controller_of(CORBA::ORB& orb) const {
    return IDL::traits<::Pendulum::Controller>::narrow(orb.string_to_object(ready_.reference));
  }

  void introduce() const {
    std::cout << "  control service, process " << server_.pid() << ": " << stage_.placement_of(server_.pid()) << "; "
              << (ready_.unnamed.empty() ? std::string("found as ") + service_name
                                         : "found by its reference alone: " + ready_.unnamed)
              << "\n";
    if (!os::privileges().fifo)
      std::cout << "  without the privilege for real-time priorities: deadlines hold as long as nothing else runs; the "
                   "message above says how to get it\n";
    std::cout << "The controller " << (ready_.promises ? "holds " : "runs on ") << counted(ready_.cores.size(), "core")
              << ", " << format("%.2f", ready_.capacity) << " of them for tasks"
              << (ready_.promises ? ".\n" : "; admission control is OFF.\n");
    std::cout << "Measured with all of them busy, and declared as budget with " << ready_.margin << " % on top"
              << (ready_.margin > usual_margin ? ", since this machine's host takes time that counts as the jobs'" : "")
              << ":\n";
    for (std::size_t i = 0; i < kinds.size(); ++i)
      std::cout << "  a rod of "
                << format("%.1f m: at most %.2f ms", kinds[i].length, static_cast<double>(ready_.executions[i]) / 1e6)
                << " for a force, so " << milliseconds(contracts_[i].budget) << " ms every "
                << milliseconds(contracts_[i].period) << " ms\n";
  }

  // Starts the clients one after another. Each is admitted or refused before the next one starts.
  void gather() {
    const int count =
        options_.pendulums > 0 ? options_.pendulums : more_than_fit(ready_.capacity, contracts_, options_.admission);
    for (int number = 1; number <= count && !is_to_end() && service_end_.empty(); ++number) {
      attend();
      const std::size_t kind = static_cast<std::size_t>(number - 1) % kinds.size();
      const Participant part{.number = number, .contract = contracts_[kind]};
      clients_.push_back(
          {part, start(arguments_of(part, kinds[kind], reference_for_clients()), stage_.client_options())});
      answer_of(clients_.back());
    }
  }

  void answer_of(Client& client) {
    Participant& part = client.part;
    std::cout << "  " << part.label() << ", process " << client.process.pid() << ": ";
    if (const auto line = client.process.read_line(os::now() + patience)) {
      part.answer = message_of<ClientAnswer>(*line);
      std::cout << (part.answer.admitted ? "admitted as task " + std::to_string(part.answer.task)
                                         : "refused: " + brief_reason(part.answer.reason))
                << "; " << way_of(part.answer) << "\n"
                << std::flush;
      return;
    }
    const auto end = client.process.wait(os::now());
    part.ended = end ? end->text() : "no answer";
    std::cout << "it gave no answer (" << part.ended << "); its own message stands above\n" << std::flush;
  }

  // Returns the full text if it differs from the previous client's, else a short one.
  std::string way_of(const ClientAnswer& answer) {
    // The name of each channel contains a number of its own. The comparison leaves it out.
    const std::string why = answer.way.substr(std::min(answer.way.size(), answer.way.rfind(": ")));
    if (answer.way.starts_with("calls over channel:") && why == way_) return "calls over a channel, too";
    way_ = why;
    return answer.way;
  }

  void swing_all() {
    swung_ = true;
    const Time start = os::now();
    for (Client& client : clients_)
      if (client.part.runs()) client.process.write_line("go");
    std::cout << "All have been started; Ctrl-C ends the demo early.\n";
    watch(start);
  }

  void watch(Time start) {
    const Time end = start + options_.length;
    for (Time now = start; now < end && !is_to_end() && service_end_.empty(); now = os::now()) {
      std::this_thread::sleep_for(std::min<Duration>(end - now, terminal_ ? 250ms : 1s));
      attend();
      if (service_end_.empty()) show_progress(std::min(os::now(), end) - start);
    }
    end_line();
  }

  // Checks which processes have ended before they were told to.
  void attend() {
    std::vector<std::string> news;
    const pid_t service = server_.pid();
    if (const auto end = service_end_.empty() ? server_.wait(os::now()) : std::nullopt)
      service_ended(service, *end, news);
    const auto more = stage_.attend(server_.pid());
    news.insert(news.end(), more.begin(), more.end());
    for (Client& client : clients_)
      if (client.part.runs())
        if (const auto end = client.process.wait(os::now())) client_ended(client, *end, news);
    for (const std::string& line : news) say(line);
  }

  void say(const std::string& line) {
    end_line();
    std::cout << "  " << line << "\n" << std::flush;
  }
  void end_line() {
    if (std::exchange(in_line_, false)) std::cout << "\n" << std::flush;
  }

  void service_ended(pid_t process, const os::ExitStatus& end, std::vector<std::string>& news) {
    service_end_ = end.text();
    news.push_back("the control service ended (" + service_end_ +
                   "): no service balances the pendulums any more, so the demo ends");
    remove_leavings(core::runtime_directory_of(orb_.settings()), process);
    if (!stage_.names().runs() || !ready_.unnamed.empty()) return;
    const Time latest = os::now() + patience;  // the nameserver notices the end when this program does
    auto named = stage_.names().has(service_name);
    for (; named.value_or(true) && os::now() < latest; named = stage_.names().has(service_name))
      std::this_thread::sleep_for(10ms);
    news.push_back(std::string(service_name) + (!named   ? " may still be at the nameserver, which does not answer"
                                                : *named ? " is still at the nameserver"
                                                         : " has left the nameserver with it"));
  }

  static void client_ended(Client& client, const os::ExitStatus& end, std::vector<std::string>& news) {
    client.part.ended = end.text();
    news.push_back(client.part.label() + " ended (" + client.part.ended +
                   "): its task leaves the service with its connection, and the others go on");
  }

  // On a terminal, each progress text replaces the previous one. Otherwise each is a line of its own.
  void show_progress(Duration gone) {
    std::string state;
    try {
      state = counted(static_cast<std::uint64_t>(controller_->watch().answered()), "force") + " computed";
    } catch (const CORBA::SystemException& failure) {
      const bool overloaded = !ready_.promises && is_of_overload(failure.error().kind);
      tell_of(failure, overloaded);
      state = silence_of(overloaded);
    }
    const std::size_t columns = columns_of_terminal();
    const std::string line = progress_of(gone, options_.length, state, columns);
    if (columns > 0) shown_ = std::min(shown_, columns - 1);  // the terminal was made narrower
    std::cout << (terminal_ ? "\r" : "") << line
              << (terminal_ ? std::string(line.size() < shown_ ? shown_ - line.size() : 0, ' ') : "\n") << std::flush;
    shown_ = line.size();
    in_line_ = terminal_;
  }

  static bool is_of_overload(ErrorKind kind) { return kind == ErrorKind::timeout || kind == ErrorKind::transient; }

  // Reports a failure once, until a different one occurs. Overload is expected without admission control, so its
  // details go only to the log.
  void tell_of(const CORBA::SystemException& failure, bool overloaded) {
    if (std::exchange(trouble_, failure.what()) == failure.what()) return;
    const std::string line = silence_of(overloaded) + ": " + trouble_;
    overloaded ? os::log::info(line) : say(line);
  }

  // Tells all clients to stop before it waits for any: otherwise the others would continue meanwhile.
  void dismiss() {
    for (Client& client : clients_)
      if (client.part.runs()) client.process.write_line("stop");
    for (Client& client : clients_)
      if (client.part.runs()) hear_out(client);
    if (!service_end_.empty()) return;
    server_.write_line("stop");
    const auto line = server_.read_line(os::now() + patience);
    const auto end = server_.wait(os::now() + patience);  // it may have to write a trace first
    if (line) report_ = message_of<ServerReport>(*line);
    if (!line) service_end_ = end ? end->text() : "it hangs";
  }

  static void hear_out(Client& client) {
    if (const auto line = client.process.read_line(os::now() + patience)) {
      client.part.report = message_of<ClientReport>(*line);
      return;
    }
    const auto end = client.process.wait(os::now());
    client.part.ended = end ? end->text() : "it hangs";
  }

  int conclude() const {
    std::vector<Participant> participants;
    for (const Client& client : clients_) participants.push_back(client.part);
    const Closing closing = closing_of(participants, ready_, report_,
                                       {.swung = swung_,
                                        .admission = options_.admission,
                                        .real_time = os::privileges().fifo,
                                        .service_end = service_end_,
                                        .traces = traces_of(service_, orb_.settings()),
                                        .tool = os::program_beside("corelane")});
    std::cout << closing.text << std::flush;
    return closing.status;
  }

  const ConductorOptions options_;
  const OrbOptions orb_options_;
  CORBA::ORB& orb_;
  Stage stage_;
  os::ChildProcess server_;
  const pid_t service_;  // process of server_, also after its end
  ServerReady ready_;
  ServerReport report_;
  std::string service_end_;  // how the service ended before it was told to; empty: it runs
  std::string way_;          // why the calls of the latest client use their transport
  std::string trouble_;      // why the service did not answer last, as reported
  std::size_t shown_ = 0;    // length of the latest progress text
  bool swung_ = false;       // the pendulums were started
  bool in_line_ = false;     // the cursor is at the end of an unfinished line
  const bool terminal_ = ::isatty(STDOUT_FILENO) != 0;
  CORBA::object_reference<::Pendulum::Controller> controller_;
  std::vector<Contract> contracts_;  // one for each kind
  std::vector<Client> clients_;
};

}  // namespace

int conduct(const ConductorOptions& options, const OrbOptions& orb_options) {
  const OrbOptions own_options = with_short_log(orb_options);
  OrbOptions progress_options = own_options;
  progress_options.insert(progress_options.end(), {"-ORBid", "progress", "-ORBTimeoutRequest", "300ms"});
  end_on_signals();
  auto orb = corba::init_orb(own_options), progress_orb = corba::init_orb(progress_options);
  std::cout << "Corelane pendulum demo\n";
  const int status = Conductor(options, orb_options, *orb, *progress_orb).run();
  progress_orb->destroy();
  orb->destroy();
  return status;
}

}  // namespace corelane::pendulum
