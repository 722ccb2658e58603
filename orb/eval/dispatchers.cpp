#include "orb/eval/dispatchers.h"

#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::eval {
namespace {

using dispatch::DispatchMode;

constexpr Dispatcher mc_orb{
    .name = "mc-orb",
    .help = "the manager places the tasks and refuses those that do not fit; a thread of the task runs each job",
    .refuses = true};
constexpr Dispatcher mc_orb_star{.name = "mc-orb*",
                                 .help = "as mc-orb, but no task is refused: it goes to the least loaded core"};
constexpr Dispatcher direct{.name = "direct",
                            .help =
                                "as mc-orb, but the task's thread reads its own connection; in virtual time it equals "
                                "mc-orb without overheads.hop",
                            .mode = DispatchMode::direct,
                            .refuses = true};
constexpr Dispatcher followers{
    .name = "leader-followers",
    .help = "the thread that reads a request runs it, at the priority of its task and on any core",
    .mode = DispatchMode::leader_followers,
    .placement = TaskPlacement::any_core};
constexpr Dispatcher followers_pinned{
    .name = "leader-followers-pinned",
    .help = "as leader-followers, but task after task goes to the next core in turn, whatever it needs",
    .mode = DispatchMode::leader_followers,
    .placement = TaskPlacement::round_robin};
constexpr Dispatcher followers_on_one_core{.name = "leader-followers-one-core",
                                           .help = "as leader-followers, but all tasks share the first core",
                                           .mode = DispatchMode::leader_followers,
                                           .placement = TaskPlacement::first_core};

constexpr Dispatcher followers_allocated{
    .name = "leader-followers-allocated",
    .help =
        "as leader-followers, but each task has a core, which was the least loaded one when the task came; the thread "
        "that reads a request moves itself there, so a job costs overheads.migration where mc-orb* costs overheads.hop",
    .mode = DispatchMode::leader_followers,
    .placement = TaskPlacement::allocated};

constexpr const Dispatcher* dispatcher_registry[] = {
    &mc_orb, &mc_orb_star, &direct, &followers, &followers_pinned, &followers_on_one_core, &followers_allocated};

}  // namespace

dispatch::ExecutiveOptions server_under(const Dispatcher& dispatcher, dispatch::ExecutiveOptions server) {
  server.mode = dispatcher.mode;
  if (dispatcher.refuses) return server;
  server.admission_test = &sched::admission::none;
  server.allocation = find_named(sched::allocation_strategies(), "worst-fit");
  return server;
}

Registry<Dispatcher> dispatchers() noexcept { return dispatcher_registry; }

}  // namespace corelane::eval
