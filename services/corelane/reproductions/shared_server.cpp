#include "services/corelane/reproductions/shared_server.h"

#include <algorithm>
#include <chrono>
#include <deque>

#include "orb/eval/report/table.h"
#include "orb/sim/virtual_core.h"

namespace corelane::tool::reproductions {
namespace {

using namespace std::chrono_literals;

constexpr Priority frame_priority{3}, medium_priority{2}, low_priority{1};
constexpr Duration pause_of_low_client = 1ms;  // from an answer to its next request
constexpr Duration medium_period = 110ms;

constexpr std::string_view locker_columns[] = {"frames", "late", "worst ms"};
constexpr std::string_view locker_rows[] = {"low priority, no other load", "low priority, medium load",
                                            "highest locker, no other load", "highest locker, medium load"};

// SharedServerModel steps from event to event.
class SharedServerModel {
 public:
  explicit SharedServerModel(const SharedServerSetup& setup) : setup_(setup) {
    if (setup.has_medium_load) next_medium_ = Time{};
  }

  FrameCounts run() {
    while (next_frame_ <= Time{setup_.length} || !frames_.empty()) {  // bound: the events until then
      arrive();
      const sim::VirtualCore::Until until = core_.dispatch(now_);
      now_ = std::min({until.reach, next_frame_, next_low_, next_medium_});
      while (const auto reached = core_.reach(now_)) end(reached->job.job);
    }
    return counts_;
  }

 private:
  // The identities of jobs. A frame and the medium load have at most one at a time, since each thread has one.
  static constexpr JobId frame_job{1}, medium_job{2}, server_job{3};
  enum class Client : std::uint8_t { frame, low };

  void arrive() {
    if (next_frame_ <= now_ && next_frame_ <= Time{setup_.length}) {
      frames_.push_back(next_frame_);
      if (frames_.size() == 1) start(frame_job, frame_priority, frame_demand);
    }
    while (next_frame_ <= now_) next_frame_ += frame_period;
    if (next_low_ <= now_) ask(Client::low), next_low_ = never;
    if (next_medium_ > now_) return;
    if (!core_.has(medium_job)) start(medium_job, medium_priority, medium_demand);
    next_medium_ += medium_period;
  }

  void end(JobId job) {
    if (job == frame_job) return ask(Client::frame);
    if (job != server_job) return;
    const Client answered = requests_.front();
    requests_.pop_front();
    if (!requests_.empty()) serve();
    if (answered == Client::low)
      next_low_ = now_ + pause_of_low_client;
    else
      end_frame();
  }

  void end_frame() {
    const Duration response = now_ - frames_.front();
    frames_.pop_front();
    ++counts_.frames;
    counts_.late += response > frame_period ? 1 : 0;
    counts_.worst = std::max(counts_.worst, response);
    if (!frames_.empty()) start(frame_job, frame_priority, frame_demand);
  }

  void ask(Client client) {
    requests_.push_back(client);
    if (requests_.size() == 1) serve();
  }

  void serve() { start(server_job, setup_.is_highest_locker ? frame_priority : low_priority, request_demand); }

  void start(JobId job, Priority priority, Duration demand) {
    core_.start(now_, {.job = job, .task = no_task, .priority = priority, .remaining = demand});
  }

  const SharedServerSetup setup_;
  sim::VirtualCore core_;
  Time now_{};
  Time next_frame_{};
  Time next_low_{};
  Time next_medium_ = never;
  std::deque<Time> frames_{};      // begun and not answered, by their begin
  std::deque<Client> requests_{};  // at the server; the first one runs
  FrameCounts counts_;
};

Expected<ExperimentValues, std::string> run_shared_servers(const ExperimentRun& run) {
  ExperimentValues values;
  for (const bool is_highest_locker : {false, true})
    for (const bool has_medium_load : {false, true}) {
      const FrameCounts counts = run_shared_server(
          {.is_highest_locker = is_highest_locker, .has_medium_load = has_medium_load, .length = run.length});
      values.push_back({std::to_string(counts.frames), std::to_string(counts.late),
                        eval::fixed(std::chrono::duration<double, std::milli>(counts.worst).count(), 1)});
    }
  return values;
}

// Column 2 is the worst frame, and the medium load is on in rows 1 and 3.
bool highest_locker_prevents_inversion(const ExperimentValues& values) {
  return number_at(values, 1, 2) > number_at(values, 0, 2) && number_at(values, 3, 2) == number_at(values, 2, 2);
}

}  // namespace

FrameCounts run_shared_server(const SharedServerSetup& setup) { return SharedServerModel(setup).run(); }

constinit const Experiment shared_server{.name = "shared-server",
                                         .title = "Frames that need a server shared with a client of low priority",
                                         .time = ExperimentTime::virtually,
                                         .length = 10s,
                                         .columns = locker_columns,
                                         .rows = locker_rows,
                                         .claim =
                                             "a shared server of low priority causes priority inversion, and "
                                             "highest locking priority prevents it",
                                         .holds = highest_locker_prevents_inversion,
                                         .run = run_shared_servers};

}  // namespace corelane::tool::reproductions
