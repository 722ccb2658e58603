#include "services/corelane/measure/measured_calls.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/machine/topology.h"
#include "services/corelane/host/server_page.h"
#include "services/corelane/measure/shared_cache.h"
#include "services/corelane/measure/task_server.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
Measurements request_measurements(const MeasureOptions& options, int pid, const Selection& selection,
                                  const Complaints& complaints) {
  const auto path = request_trace(options.directory, pid, options.wait, complaints);
  if (!path) return std::nullopt;
  const auto trace = load_trace(*path, complaints);
  if (!trace) return std::nullopt;
  std::vector<Measurement> found = measurements_of(*trace, selection);
  if (const auto page = server_page(options.directory, pid))
    for (Measurement& measurement : found) add_terms(measurement.own, own_terms(*page, measurement.label));
  return found;
}

std::vector<std::string> labels_beside(const MeasureOptions& options) {
  std::vector<std::string> labels = options.beside_tasks;
  for (std::size_t i = labels.size(); i < options.beside.size(); ++i) labels.push_back(options.beside[i]);
  return labels;
}

Measurements MeasuredCalls::measure() {
  Measurements alone = measure_once();
  if (!alone || alone->empty() || alone->front().used.empty()) return alone;
  for (std::size_t i = 0; i < options_.beside.size(); ++i) {
    other_command_ = options_.beside[i];
    Measurements together = measure_once();
    if (!together || together->empty() || together->front().used.empty()) return std::nullopt;
    alone->front().beside.push_back(
        {.work = i < options_.beside_tasks.size() ? options_.beside_tasks[i] : other_command_,
         .used = std::move(together->front().used),
         .metrics = together->front().metrics});
  }
  return alone;
}

Measurements MeasuredCalls::measure_once() {
  const CallSteps steps{
      .before = [this](const CalledTask& task) { return look_for_server(task) && start_other_work(task.task); },
      .after =
          [this](const CalledTask& task) {
            return !was_interrupted() && end_other_work() && fetch(task) && !was_interrupted();
          },
      .is_to_stop = options_.is_to_stop};
  found_.reset();
  const bool called = call(options_.call, steps, complaints_);
  other_work_.reset();
  return called ? std::move(found_) : std::nullopt;
}

// Looks for the server before the calls, so that one that gives no trace is reported before them.
bool MeasuredCalls::look_for_server(const CalledTask& task) {
  // If the user gave the process id, its trace is requested even if the server has no page.
  constexpr std::chrono::milliseconds page_period{500};
  const Duration patience = options_.request == 0 ? options_.wait : std::min(options_.wait, 3 * page_period);
  const auto page = page_with(
      options_.directory,
      {.task = task.task, .operation = options_.call.operation, .contract = task.contract, .pid = options_.request},
      patience);
  interface_ = task.repository_id;
  pid_ = page ? page->pid : options_.request;
  const dispatch::TaskCounters shown = task_in(page.value_or(dispatch::ProcessCounters{}), task.task);
  core_ = shown.core;
  if (pid_ == 0) {
    complaints_.begin() << "no server with runtime.directory " << plain(options_.directory)
                        << " shows the task; name that directory, and the server with --request PID. It must run on "
                           "this host, as this user\n";
    return false;
  }
  if (!file_takes_slowdowns()) return false;
  start_counting(shown.thread);
  if (!page) return true;
  const std::string why = why_untraced(*page);
  if (!why.empty()) complaints_.begin() << "nothing was called: process " << pid_ << " " << why << "\n";
  return why.empty() && is_of_interface(shown.label) && terms_fit(own_terms(*page, shown.label));
}

// Counts from here on what the task's thread does. 0: the thread is not known.
void MeasuredCalls::start_counting(int thread) {
  auto counters = thread != 0 ? os::CacheCounters::of_thread(thread)
                              : Unexpected{"process " + std::to_string(pid_) + " shows no thread of the task in " +
                                           options_.directory + "; name its runtime.directory"};
  uncounted_ = counters ? "" : counters.error();
  counters_.reset();
  if (counters) counters_.emplace(std::move(*counters));
}

// Starts the other command, in the series of calls that has one. Returns false after a complaint.
bool MeasuredCalls::start_other_work(TaskId task) {
  if (other_command_.empty()) return true;
  const auto topology = os::Topology::detect();
  const CoreId core = topology ? core_beside(topology->cores(), core_) : no_core;
  if (core == no_core) {
    complaints_.begin() << "nothing was run beside task " << task.value << ": "
                        << (core_ == no_core ? "its server shows no core of it"
                                             : "no other core that this process may use shares the last-level cache "
                                               "of its core " +
                                                   std::to_string(core_.value))
                        << "\n";
    return false;
  }
  try {
    other_work_.emplace(std::vector<std::string>{"/bin/sh", "-c", "exec >/dev/null; " + other_command_},
                        os::ChildOptions{.core = core});
  } catch (const std::system_error& error) {
    complaints_.begin() << "/bin/sh cannot be started on core " << core.value << ": " << error.what() << "\n";
  }
  return other_work_.has_value();
}

// Ends the other command. Returns false after a complaint: it has ended before.
bool MeasuredCalls::end_other_work() {
  if (!other_work_) return true;
  const auto status = other_work_->wait(os::now());
  other_work_.reset();
  if (status)
    complaints_.begin() << "this ended (" << status->text()
                        << ") before the calls did, so they did not all run beside it; let it run longer: "
                        << plain(other_command_) << "\n";
  return !status;
}

// Returns true after a complaint.
bool MeasuredCalls::was_interrupted() const {
  const bool is = options_.is_to_stop && options_.is_to_stop();
  if (is)
    complaints_.begin() << "the calls of " << plain(options_.call.operation)
                        << (other_command_.empty() ? "" : " beside " + plain(other_command_))
                        << " were interrupted, and nothing was written\n";
  return is;
}

bool MeasuredCalls::is_of_interface(const std::string& label) const {
  const bool is_its =
      options_.interface.empty() || is_shown_as(label, label_of(options_.interface, options_.call.operation));
  if (!is_its)
    complaints_.begin() << "nothing was called: the operation is " << plain(label) << ", of another interface than "
                        << plain(options_.interface) << "\n";
  return is_its;
}

// Returns whether the given terms fit with the server's own terms, for any budget.
bool MeasuredCalls::terms_fit(const std::vector<Contract>& own) const {
  Contract contract = basis_of_calls(options_.given, options_.call.contract, own).contract;
  contract.budget = Duration{1};
  contract.uses = {};
  const auto fault = fault_of(contract);
  if (fault) complaints_.begin() << "nothing was called: with the server's other terms " << *fault << "\n";
  return !fault;
}

// Returns whether the file can have slowdowns with the label of the operation, which is known from here on.
bool MeasuredCalls::file_takes_slowdowns() const {
  if (options_.slowdowns.empty() || !options_.task.empty()) return true;
  const std::string& interface = options_.interface.empty() ? interface_ : options_.interface;
  const std::string fault = fault_of_slowdowns_file(options_.slowdowns, label_of(interface, options_.call.operation),
                                                    labels_beside(options_));
  if (!fault.empty()) complaints_.begin() << "nothing was called: " << plain(fault) << "\n";
  return fault.empty();
}

bool MeasuredCalls::fetch(const CalledTask& task) {
  found_ = request_measurements(options_, pid_, {.only = task.task}, complaints_);
  if (!found_) return false;
  const auto intensity = counters_ ? counters_->intensity() : std::nullopt;
  if (counters_ && !intensity)
    uncounted_ =
        "the counters did not run all the time, or counted fewer than 1,000 instructions; make more calls, or end "
        "other programs that use perf";
  for (Measurement& measurement : *found_) {
    measurement.intensity = intensity;
    measurement.metrics = counters_ ? counters_->metrics() : std::nullopt;
    measurement.uncounted = uncounted_;
  }
  if (task.raised > 0)
    complaints_.begin() << task.raised << " of " << task.raised + task.answered
                        << " calls ended with an exception of the operation\n";
  return true;
}

}  // namespace corelane::tool
