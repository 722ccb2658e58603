#include "services/corelane/real_run/node_options.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "orb/base/contract.h"
#include "orb/eval/dispatchers.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/task.h"
#include "orb/sched/usable_in.h"

namespace corelane::tool {
namespace {

using dispatch::DispatchMode;
using eval::TaskPlacement;
using Options = std::vector<std::string>;

constexpr std::size_t most_followers = 256;  // the limit of followers.threads

// Where the server listens for each transport. "channel:" and "unix:" stand for a path in the runtime directory.
constexpr std::pair<std::string_view, std::string_view> endpoints[] = {
    {"channel", "channel:"}, {"unix", "unix:"}, {"tcp", "127.0.0.1:0"}};

std::string_view endpoint_of(std::string_view transport) {
  const auto* const found =
      std::ranges::find(endpoints, transport, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(endpoints) ? std::string_view{} : found->second;
}

std::string text_of(const std::vector<CoreId>& cores) {
  std::string text;
  for (const CoreId core : cores) text += (text.empty() ? "" : ",") + std::to_string(core.value);
  return text;
}

std::string_view placement_of(TaskPlacement placement) {
  switch (placement) {
    case TaskPlacement::round_robin:
      return "round-robin";
    case TaskPlacement::first_core:
      return "single-core";
    case TaskPlacement::allocated:
      return "allocated";
    case TaskPlacement::any_core:
    case TaskPlacement::by_manager:
      break;
  }
  return "unbound";
}

// A thread that runs a job reads no connection meanwhile. So there is one for each task, and a leader.
std::size_t followers_for(const eval::RunRequest& request) {
  return std::min(most_followers, request.tasks.size() + 1);
}

Options followers_options(const eval::RunRequest& request) {
  const dispatch::ExecutiveOptions server = eval::server_under(*request.dispatcher, request.server);
  return {"-ORBDispatchMode",       "leader-followers",
          "-ORBFollowersPlacement", std::string(placement_of(request.dispatcher->placement)),
          "-ORBFollowersThreads",   std::to_string(followers_for(request)),
          "-ORBDispatchAllocation", std::string(server.allocation->name)};
}

Options manager_options(const eval::RunRequest& request) {
  const dispatch::ExecutiveOptions server = eval::server_under(*request.dispatcher, request.server);
  const std::string_view test = request.dispatcher->refuses ? server.admission_test->name : "off";
  return {"-ORBDispatchMode",       request.dispatcher->mode == DispatchMode::direct ? "direct" : "manager",
          "-ORBDispatchAdmission",  std::string(test),
          "-ORBDispatchAllocation", std::string(server.allocation->name),
          "-ORBPlatformBudget",     to_string(server.platform.budget),
          "-ORBPlatformPeriod",     to_string(server.platform.period),
          "-ORBPlatformBlocking",   to_string(server.platform.blocking)};
}

// Limits that protect servers from strangers. Here they would refuse tasks of the experiment.
Options limits_for(std::size_t tasks) {
  const std::string connections = std::to_string(std::max<std::size_t>(1024, 4 * tasks));
  return {"-ORBLimitsTasks",
          std::to_string(std::max<std::size_t>(256, tasks)),
          "-ORBLimitsPeerTasks",
          "0",
          "-ORBLimitsPeerOverrun",
          "report",
          "-ORBLimitsConnections",
          connections,
          "-ORBLimitsConnectionsPerPeer",
          connections,
          "-ORBLimitsPeerUtilization",
          "0",
          "-ORBTimeoutIdleTasks",
          "0s"};
}

// The log would repeat in each run what RunOutcome::notes say.
Options common_options(const std::string& directory) {
  return {"-ORBRuntimeDirectory", directory, "-ORBReservedUse", "off", "-ORBLogLevel", "error"};
}

void append(Options& options, const Options& more) { options.insert(options.end(), more.begin(), more.end()); }

std::string fault_of(const eval::Task& task) {
  if (uses_resources(task.contract))
    return "task " + task.label +
           " locks resources, which jobs of a real run do not; remove `uses`, or run in virtual time";
  if (task.contract.suspension > Duration::zero())
    return "task " + task.label +
           " suspends itself, which jobs of a real run do not; remove `suspension`, or run in virtual time";
  return {};
}

template <typename PolicyEntry>
std::string fault_of_policy(const char* field, const PolicyEntry& policy) {
  if (policy.usable_in.server) return {};
  return "policy." + std::string(field) + " = \"" + std::string(policy.name) + "\" works in no server, only in " +
         sched::text_of(policy.usable_in) + "; choose another one, or run in virtual time";
}

}  // namespace

std::string fault_of(const eval::RunRequest& request) {
  if (request.dispatcher->refuses) {
    std::string fault = fault_of_policy("test", *request.server.admission_test);
    if (fault.empty()) fault = fault_of_policy("allocation", *request.server.allocation);
    if (!fault.empty()) return fault;
    if (!request.server.repack)
      return "policy.repack = false works in no server, only in plans and virtual time; leave it out, or run in "
             "virtual time";
    if (request.charge_slowdowns)
      return "policy.charge_slowdowns = true works in no server, only in plans and virtual time; leave it out, or run "
             "in virtual time";
    if (request.server.slowdowns)
      return "policy.charge_slowdowns = \"worst\", or the setting dispatch.slowdowns, does not work in a real run: its "
             "server has one operation for all tasks; write policy.charge_slowdowns = false, or run in virtual time";
  }
  if (endpoint_of(request.transport).empty())
    return "there is no transport \"" + request.transport + "\"; use channel, unix or tcp";
  for (const eval::Task& task : request.tasks)
    if (std::string fault = fault_of(task); !fault.empty()) return fault;
  return {};
}

std::vector<std::string> adapt_platform(eval::RunRequest& request) {
  std::vector<std::string> notes;
  if (request.dispatcher->mode == DispatchMode::leader_followers) return notes;  // it analyzes nothing
  sched::PlatformLoad& load = request.server.platform;
  if (load.budget == Duration::zero()) {
    const sched::PlatformLoad usual = dispatch::ExecutiveOptions{}.platform;
    load.budget = usual.budget;
    load.period = usual.period;
    notes.push_back("a real platform is never without load: the server charges " + to_string(load.budget) +
                    " in each " + to_string(load.period));
  }
  if (load.jitter > Duration::zero()) {
    load.jitter = {};
    notes.emplace_back("the jitter of the platform is left out, since a server has no setting for it");
  }
  if (request.server.capacity != sched::default_capacity) {
    request.server.capacity = sched::default_capacity;
    notes.push_back("the capacity of a core is " + std::to_string(sched::default_capacity / 10'000) +
                    " %, since a server has no setting for it");
  }
  return notes;
}

std::vector<std::string> server_options(const eval::RunRequest& request, const std::string& directory) {
  Options options = common_options(directory);
  append(options, {"-ORBEndpointListen", std::string(endpoint_of(request.transport)), "-ORBEndpointLocal", "off",
                   "-ORBPoolCores", text_of(request.cores)});
  append(options, limits_for(request.tasks.size()));
  append(options, request.dispatcher->mode == DispatchMode::leader_followers ? followers_options(request)
                                                                             : manager_options(request));
  return options;
}

std::vector<std::string> client_options(const std::string& directory) {
  Options options = common_options(directory);
  append(options, {"-ORBTimeoutRequest", "0s"});  // a late job may wait until the more urgent tasks end
  return options;
}

}  // namespace corelane::tool
