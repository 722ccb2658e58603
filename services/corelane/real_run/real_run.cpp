#include "services/corelane/real_run/real_run.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <stdexcept>
#include <utility>

#include "orb/eval/experiment/job_account.h"
#include "orb/os/clock.h"
#include "orb/os/machine/topology.h"
#include "services/corelane/real_run/node_messages.h"
#include "services/corelane/real_run/node_options.h"
#include "services/corelane/real_run/node_process.h"
#include "services/corelane/real_run/release_schedule.h"
#include "services/corelane/real_run/run_directory.h"
#include "services/corelane/real_run/run_records.h"

namespace corelane::tool {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_clients = 16;
constexpr Duration patience = 30s;  // for an answer

class RealRun {
 public:
  RealRun(const eval::RunRequest& request, const RealRunOptions& options)
      : request_(request),
        options_(options),
        server_("the server", node_command(options.node, "serve", server_options(request, directory_.path())),
                options.is_to_stop) {}

  RealOutcome run() {
    plan();
    start();
    admit();
    run_jobs();
    server_.write("stop");
    records_.server = server_.expect<ServerReport>(patience);
    end_in_order();
    return {.run = outcome_of(request_, records_), .gaps = gaps_of(records_)};
  }

 private:
  std::size_t client_count() const {
    const std::size_t wanted = options_.clients > 0 ? options_.clients : most_clients;
    return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(request_.tasks.size(), 1));
  }
  // The tasks are dealt to the clients in turn.
  std::size_t client_of(std::size_t task) const { return task % clients_.size(); }

  void plan() {
    eval::JobAccount source(request_, {}, nullptr);
    for (std::size_t task = 0; task < request_.tasks.size(); ++task)
      records_.planned.push_back(planned_jobs(source, task, request_.length, options_.call_cost));
  }

  void start() {
    ServeOrder order{.tasks = request_.tasks.size(), .jobs = 0};
    for (const auto& jobs : records_.planned) order.jobs += jobs.size();
    server_.write(line_of(order));
    for (std::size_t i = 0; i < client_count(); ++i)
      clients_.emplace_back("client " + std::to_string(i + 1),
                            node_command(options_.node, "call", client_options(directory_.path())),
                            options_.is_to_stop);
    records_.ready = server_.expect<ServerReady>(patience);
    if (records_.ready.references.size() != request_.tasks.size())
      throw std::runtime_error("the server serves another number of tasks than it was told");
  }

  // The tasks ask one after the other, in the order of the request.
  void admit() {
    for (std::size_t task = 0; task < request_.tasks.size(); ++task) {
      NodeProcess& client = clients_[client_of(task)];
      client.write("admit " + line_of(order_of(request_.tasks[task].contract, records_.ready.references[task])));
      records_.answers.push_back(client.expect<AdmitAnswer>(patience, &server_));
      if (!records_.answers.back().admitted) records_.planned[task].clear();
    }
  }

  void run_jobs() {
    records_.start = os::now() + options_.head_start;
    const RunOrder empty{.start = records_.start.time_since_epoch().count(), .jobs = {}};
    std::vector<RunOrder> orders(clients_.size(), empty);
    for (std::size_t task = 0; task < records_.planned.size(); ++task)
      orders[client_of(task)].jobs.push_back(records_.planned[task]);
    for (std::size_t i = 0; i < clients_.size(); ++i) clients_[i].write("run " + line_of(orders[i]));
    const Duration most = options_.head_start + request_.length + most_lateness() + patience;
    for (NodeProcess& client : clients_) records_.clients.push_back(client.expect<ClientReport>(most, &server_));
  }

  // Returns by how much the last job may be late if one core runs all jobs, twice as slowly as planned.
  Duration most_lateness() const {
    Duration sum{};
    for (const auto& jobs : records_.planned)
      for (const PlannedJob& job : jobs) sum += 2 * job.demand;
    return sum;
  }

  void end_in_order() {
    for (NodeProcess& client : clients_) client.end_input();
    server_.end_input();
    for (NodeProcess& client : clients_) client.await_end(patience);
    server_.await_end(patience);
  }

  const eval::RunRequest& request_;
  const RealRunOptions& options_;
  const RunDirectory directory_;  // outlives the processes
  NodeProcess server_;
  std::deque<NodeProcess> clients_;
  RunRecords records_;
};

// Returns why this host cannot run on the cores; "" if it can.
std::string fault_of_cores(const std::vector<CoreId>& cores) {
  const auto topology = os::Topology::detect();
  if (!topology) return "the cores of this host cannot be read, so there is no real run";
  const std::string bad = os::fault_of(cores, topology->cores());
  return bad.empty() ? bad : bad + "; give the platform of the scenario fewer cores, or run in virtual time";
}

RealOutcome run_adapted(eval::RunRequest request, const RealRunOptions& options) {
  const std::vector<std::string> changes = adapt_platform(request);
  RealOutcome outcome = RealRun(request, options).run();
  outcome.run.notes.insert(outcome.run.notes.end(), changes.begin(), changes.end());
  return outcome;
}

GapCount watched_gaps(const std::vector<CoreId>& cores, Duration length, const RealRunOptions& options) {
  NodeProcess watcher("the watcher", node_command(options.node, "watch"), options.is_to_stop);
  WatchOrder order{.cores = {}, .length = length.count()};
  for (const CoreId core : cores) order.cores.push_back(core.value);
  watcher.write(line_of(order));
  const auto report = watcher.expect<WatchReport>(4 * length + patience);
  return {.gaps = report.gaps, .watched = Duration{report.watched}};
}

// Returns what the function returns, or the fault that it has raised.
template <typename Function>
auto with_fault(const Function& function) -> Expected<decltype(function()), RunFault> {
  try {
    return function();
  } catch (const Stopped&) {
    return RunFault{.text = "the run was stopped", .stopped = true};
  } catch (const std::exception& failure) {
    return RunFault{.text = failure.what()};
  }
}

}  // namespace

std::string fault_of_real_run(const eval::RunRequest& request) {
  const std::string fault = fault_of(request);
  return fault.empty() ? fault_of_cores(request.cores) : fault;
}

Expected<RealOutcome, RunFault> run_real(const eval::RunRequest& request, const RealRunOptions& options) {
  if (const std::string fault = fault_of_real_run(request); !fault.empty()) return RunFault{.text = fault};
  return with_fault([&] { return run_adapted(request, options); });
}

Expected<GapCount, RunFault> watch_gaps(const std::vector<CoreId>& cores, Duration length,
                                        const RealRunOptions& options) {
  if (const std::string fault = fault_of_cores(cores); !fault.empty()) return RunFault{.text = fault};
  return with_fault([&] { return watched_gaps(cores, length, options); });
}

}  // namespace corelane::tool
