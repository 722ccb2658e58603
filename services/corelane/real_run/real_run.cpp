#include "services/corelane/real_run/real_run.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/eval/experiment/job_account.h"
#include "orb/os/child_process.h"
#include "orb/os/clock.h"
#include "orb/os/topology.h"
#include "services/corelane/real_run/node_messages.h"
#include "services/corelane/real_run/node_options.h"
#include "services/corelane/real_run/release_schedule.h"
#include "services/corelane/real_run/run_directory.h"
#include "services/corelane/real_run/run_records.h"

namespace corelane::tool {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_clients = 16;
constexpr Duration patience = 30s;         // for an answer
constexpr Duration between_looks = 50ms;   // at is_to_stop()
constexpr Duration before_start = 300ms;   // until all clients have read their orders

// Ends a run that is_to_stop() has asked to end.
struct Stopped {};

// One process of the run.
struct NodeProcess {
  NodeProcess(std::string who, const std::vector<std::string>& command) : name(std::move(who)), process(command) {}

  const std::string name;  // for messages: "the server"
  os::ChildProcess process;
  std::optional<os::ExitStatus> end{};

  bool has_ended() {
    if (!end) end = process.wait(os::now());
    return end.has_value();
  }
};

std::vector<std::string> command_of(const std::string& node, const std::string& role,
                                    const std::vector<std::string>& orb_options) {
  std::vector<std::string> command{node, role};
  command.insert(command.end(), orb_options.begin(), orb_options.end());
  return command;
}

class RealRun {
 public:
  RealRun(const eval::RunRequest& request, const RealRunOptions& options)
      : request_(request),
        options_(options),
        server_("the server", command_of(options.node, "serve", server_options(request, directory_.path()))) {}

  eval::RunOutcome run() {
    plan();
    start();
    admit();
    run_jobs();
    server_.process.write_line("stop");
    records_.server = expect<ServerReport>(server_, patience);
    end_in_order();
    return outcome_of(request_, records_);
  }

 private:
  std::size_t client_count() const {
    const std::size_t wanted = options_.clients > 0 ? options_.clients : most_clients;
    return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(request_.tasks.size(), 1));
  }
  // The tasks are dealt to the clients in turn.
  NodeProcess& client_of(std::size_t task) { return clients_[task % clients_.size()]; }

  void plan() {
    eval::JobAccount source(request_, {}, nullptr);
    for (std::size_t task = 0; task < request_.tasks.size(); ++task)
      records_.planned.push_back(planned_jobs(source, task, request_.length, options_.call_cost));
  }

  void start() {
    ServeOrder order{.tasks = request_.tasks.size(), .jobs = 0};
    for (const auto& jobs : records_.planned) order.jobs += jobs.size();
    server_.process.write_line(line_of(order));
    for (std::size_t i = 0; i < client_count(); ++i)
      clients_.emplace_back("client " + std::to_string(i + 1),
                            command_of(options_.node, "call", client_options(directory_.path())));
    records_.ready = expect<ServerReady>(server_, patience);
    if (records_.ready.references.size() != request_.tasks.size())
      throw std::runtime_error("the server serves another number of tasks than it was told");
  }

  // The tasks ask one after the other, in the order of the request.
  void admit() {
    for (std::size_t task = 0; task < request_.tasks.size(); ++task) {
      NodeProcess& client = client_of(task);
      client.process.write_line("admit " +
                                line_of(order_of(request_.tasks[task].contract, records_.ready.references[task])));
      records_.answers.push_back(expect<AdmitAnswer>(client, patience));
      if (!records_.answers.back().admitted) records_.planned[task].clear();
    }
  }

  void run_jobs() {
    records_.start = os::now() + before_start;
    const RunOrder empty{.start = records_.start.time_since_epoch().count(), .jobs = {}};
    std::vector<RunOrder> orders(clients_.size(), empty);
    for (std::size_t task = 0; task < records_.planned.size(); ++task)
      orders[task % clients_.size()].jobs.push_back(records_.planned[task]);
    for (std::size_t i = 0; i < clients_.size(); ++i) clients_[i].process.write_line("run " + line_of(orders[i]));
    const Duration most = before_start + request_.length + total_demand() + patience;
    for (NodeProcess& client : clients_) records_.clients.push_back(expect<ClientReport>(client, most));
  }

  // Returns by how much the last job may be late if one core runs all jobs, twice as slowly as planned.
  Duration total_demand() const {
    Duration sum{};
    for (const auto& jobs : records_.planned)
      for (const PlannedJob& job : jobs) sum += 2 * job.demand;
    return sum;
  }

  void end_in_order() {
    for (NodeProcess& client : clients_) client.process.end_input();
    server_.process.end_input();
    for (NodeProcess& client : clients_) await_end(client);
    await_end(server_);
  }

  // A process that does not end by itself is killed later, by its handle.
  void await_end(NodeProcess& node) {
    for (const Time latest = os::now() + patience; !node.has_ended() && os::now() < latest;) {
      if (options_.is_to_stop && options_.is_to_stop()) throw Stopped{};
      os::sleep_until(os::now() + 1ms);
    }
  }

  template <typename Message>
  Message expect(NodeProcess& node, Duration most) {
    const std::string line = line_from(node, os::now() + most);
    auto message = message_of<Message>(line);
    if (!message)
      throw std::runtime_error(node.name + " wrote a line that is no answer (" + message.error().text +
                               "): " + line.substr(0, 100));
    return *std::move(message);
  }

  std::string line_from(NodeProcess& node, Time latest) {
    for (;;) {  // bound: `latest`
      if (auto line = node.process.read_line(os::now() + between_looks)) return *std::move(line);
      if (options_.is_to_stop && options_.is_to_stop()) throw Stopped{};
      if (node.has_ended()) return last_line_from(node);
      if (&node != &server_ && server_.has_ended()) throw std::runtime_error(text_of_end(server_));
      if (os::now() >= latest) throw std::runtime_error(node.name + " does not answer");
    }
  }

  // Returns what the process wrote before its end.
  static std::string last_line_from(NodeProcess& node) {
    if (auto line = node.process.read_line(os::now() + between_looks)) return *std::move(line);
    throw std::runtime_error(text_of_end(node));
  }

  static std::string text_of_end(const NodeProcess& node) {
    return node.name + " ended early (" + node.end->text() + "); its own message, if it wrote one, stands above";
  }

  const eval::RunRequest& request_;
  const RealRunOptions& options_;
  const RunDirectory directory_;  // outlives the processes
  NodeProcess server_;
  std::deque<NodeProcess> clients_;
  RunRecords records_;
};

// Returns why this host cannot run the request; "" if it can.
std::string fault_of_host(const eval::RunRequest& request) {
  const auto topology = os::Topology::detect();
  if (!topology) return "the cores of this host cannot be read, so there is no real run";
  const std::string bad = os::fault_of(request.cores, topology->cores());
  return bad.empty() ? bad : bad + "; give the platform of the scenario fewer cores, or run in virtual time";
}

}  // namespace

Expected<eval::RunOutcome, RunFault> run_real(const eval::RunRequest& request, const RealRunOptions& options) {
  std::string fault = fault_of(request);
  if (fault.empty()) fault = fault_of_host(request);
  if (!fault.empty()) return RunFault{.text = fault};
  try {
    eval::RunRequest possible = request;
    std::vector<std::string> changes = adapt_platform(possible);
    eval::RunOutcome outcome = RealRun(possible, options).run();
    outcome.notes.insert(outcome.notes.end(), changes.begin(), changes.end());
    return outcome;
  } catch (const Stopped&) {
    return RunFault{.text = "the run was stopped", .stopped = true};
  } catch (const std::exception& failure) {
    return RunFault{.text = failure.what()};
  }
}

}  // namespace corelane::tool
