#include "orb/eval/scenario/field_tables.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "orb/base/registry.h"
#include "orb/base/settings/overrun_name.h"
#include "orb/eval/generate/periods.h"
#include "orb/eval/generate/utilizations.h"
#include "orb/eval/server_options.h"
#include "orb/eval/task_set.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/task_order.h"

namespace corelane::eval {
namespace {

using Names = std::vector<std::string_view>;

template <typename Table>
Names names_in(const Table& table) {
  Names names;
  for (const auto& entry : table) names.push_back(entry.name);
  return names;
}

Names copied(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

template <typename Entry>
Names names_in(Registry<Entry> registry) {
  Names names;
  for (const Entry* const entry : registry) names.push_back(entry->name);
  return names;
}

constexpr std::int64_t million = unity.millionths;

constexpr Field<Scenario> top_rows[] = {
    {{.key = "name", .help = "What the experiment is called in reports", .example = "\"two cores\""}, &Scenario::name},
    {{.key = "seed",
      .help = "The number from which random tasks are drawn. The same number gives the same tasks on every machine",
      .fallback = "1",
      .example = "1"},
     &Scenario::seed},
    {{.key = "repetitions",
      .help = "How many sets of tasks are drawn",
      .fallback = "1",
      .example = "100",
      .least = 1,
      .most = 1'000'000},
     &Scenario::repetitions},
};

constexpr Field<Platform> platform_rows[] = {
    {{.key = "cores",
      .help = "How many cores there are",
      .fallback = "as many as a server on this host would use",
      .example = "2",
      .least = 1,
      .most = 1024},
     &Platform::cores},
    {{.key = "budget",
      .help = "What readers, manager and interrupts take of a core in each period, above all tasks",
      .fallback = "the setting platform.budget",
      .example = "\"20us\""},
     &Platform::budget},
    {{.key = "period", .help = "See budget", .fallback = "the setting platform.period", .example = "\"1ms\""},
     &Platform::period},
    {{.key = "jitter", .help = "How late the platform load may come", .fallback = "\"0us\"", .example = "\"0us\""},
     &Platform::jitter},
    {{.key = "blocking",
      .help = "The longest time for which the platform keeps a job from starting",
      .fallback = "the setting platform.blocking",
      .example = "\"50us\""},
     &Platform::blocking},
    {{.key = "capacity",
      .help = "The part of each core that the platform load and all tasks may take together",
      .fallback = "0.95",
      .example = "0.95",
      .least = 1,
      .most = million},
     &Platform::capacity},
    {{.key = "cache_domains",
      .help = "For the allocation cache-aware: among how many last-level caches the cores are divided, evenly and in "
              "their order",
      .fallback = "the setting pool.cache_domains; if that is 0, all cores share one",
      .example = "2",
      .least = 1,
      .most = 1024},
     &Platform::cache_domains},
    {{.key = "slowdown",
      .help = "In virtual time: by which factor a job of an intensive task executes longer while another intensive "
              "task runs on another core of its cache. Each further one adds as much. Tables [[slowdown]] replace it "
              "for their pairs. Admission depends on it only with policy.charge_slowdowns = true",
      .fallback = "1",
      .example = "1.3",
      .least = million,
      .most = 10 * million,
      .rounds_up = true},
     &Platform::slowdown},
};

constexpr Field<Policy> policy_rows[] = {
    {{.key = "dispatcher",
      .help =
          "How calls reach their task's thread: dispatch.mode of the server. If experiment.dispatchers is given, it "
          "must contain this dispatcher; manager is called mc-orb there",
      .fallback = "the first one of experiment.dispatchers, otherwise the setting dispatch.mode",
      .example = "\"manager\"",
      .choices = [] { return copied(dispatcher_names()); }},
     &Policy::dispatcher},
    {{.key = "allocation",
      .help = "Which core is tried first for a task: dispatch.allocation of the server, or one that no server has. "
              "splitting needs test = \"qpa\", tasks without jitter, and bare cores: below [platform], budget = "
              "\"0us\", blocking = \"0us\" and capacity = 1",
      .fallback = "the setting dispatch.allocation",
      .example = "\"worst-fit\"",
      .choices = [] { return names_in(sched::allocation_strategies()); }},
     &Policy::allocation},
    {{.key = "repack",
      .help =
          "Whether tasks may move to make room for a task that fits on no core. Then all tasks are packed anew, the "
          "largest first, as in a server. false: no task moves, as with policies that are functions in Python; no "
          "server does that. splitting, global-fp, gfb, msrp and charge_slowdowns = true never move a task",
      .fallback = "true",
      .example = "false"},
     &Policy::repack},
    {{.key = "order",
      .help = "The order in which the tasks ask for admission",
      .fallback = "\"arrival\"",
      .example = "\"decreasing-utilization\"",
      .choices = [] { return names_in(sched::task_orders()); }},
     &Policy::order},
    {{.key = "test",
      .help = "How it is decided whether a task fits: dispatch.admission of the server, or a test that no server has. "
              "none: every task is admitted. global-fp and gfb need bare cores: below [platform], budget = \"0us\", "
              "blocking = \"0us\" and capacity = 1. qpa needs no bare cores",
      .fallback = "the setting dispatch.admission",
      .example = "\"response-time\"",
      .choices = [] { return names_in(sched::admission_tests()); }},
     &Policy::test},
    {{.key = "aub",
      .help = "For test = \"aub\": decides about jobs in virtual time. The letters stand for admission, idle resetting "
              "and load balancing, in this order: never (N), per task (T) or per job (J). T_J_N, T_J_T and T_J_J are "
              "refused",
      .fallback = "each task is admitted once, as in a server",
      .example = "\"J_J_N\"",
      .choices = [] { return copied(aperiodic_policy_names()); }},
     &Policy::aub},
    {{.key = "locks",
      .help =
          "How resources are locked. ceiling: as in a server, with all users of a resource on one core. msrp: users "
          "on several cores spin for it; a server cannot do that, so this is an analysis only",
      .fallback = "\"ceiling\"",
      .example = "\"msrp\"",
      .choices =
          [] {
            return Names{"ceiling", "msrp"};
          }},
     &Policy::locks},
    {{.key = "charge_slowdowns",
      .help =
          "Whether admission multiplies a budget by what tasks on other cores of the same cache may slow the task "
          "down. true: the tasks that are placed there; no server does that. \"worst\": the worst task of the tables "
          "[[slowdown]] on each of these cores, as a server does whose setting dispatch.slowdowns names these "
          "tables. The factors are estimates, so bounds then hold only as far as the estimates do",
      .fallback = "the setting dispatch.slowdowns",
      .example = "true"},
     &Policy::charge_slowdowns},
};

// What listed and drawn tasks have in common.
constexpr FieldInfo arrival_info{
    .key = "arrival",
    .help = "When the jobs of a task come in an experiment. Admission does not depend on it",
    .fallback = "\"periodic\"",
    .example = "\"sporadic\"",
    .choices = [] { return copied(arrival_names); }};
constexpr FieldInfo burst_info{.key = "burst",
                               .help = "bursty: how many jobs come before each gap",
                               .fallback = "4",
                               .example = "3",
                               .least = 1,
                               .most = 1'000'000};
constexpr FieldInfo execution_info{
    .key = "execution",
    .help = "How long a job really executes in an experiment, as a part of its budget. Admission does not depend on it",
    .fallback = "1",
    .example = "0.8",
    .least = 1,
    .most = 10 * million};
constexpr FieldInfo execution_min_info{.key = "execution_min",
                                       .help = "Each job executes for a random part, uniform from this to execution",
                                       .fallback = "execution",
                                       .example = "0.5",
                                       .least = 1,
                                       .most = 10 * million};

constexpr Field<ListedTask> task_rows[] = {
    {{.key = "label",
      .help = "The name of the task in reports and sweeps",
      .fallback = "\"task-\" and its number in the file",
      .example = "\"sensor\""},
     &ListedTask::label},
    {{.key = "period", .help = "T: the least time between two jobs", .example = "\"10ms\"", .is_required = true},
     &ListedTask::period},
    {{.key = "budget", .help = "C: the execution time of one job", .example = "\"2ms\"", .is_required = true},
     &ListedTask::budget},
    {{.key = "deadline", .help = "D, from the release", .fallback = "the period", .example = "\"8ms\""},
     &ListedTask::deadline},
    {{.key = "jitter",
      .help = "J: how late after its nominal time a job may come",
      .fallback = "a tenth of the smaller of period and deadline",
      .example = "\"0us\""},
     &ListedTask::jitter},
    {{.key = "suspension",
      .help = "S: how long a job waits for something else than its core",
      .fallback = "\"0us\"",
      .example = "\"1ms\""},
     &ListedTask::suspension},
    {{.key = "importance",
      .help = "Decides between tasks that are equally urgent, and which task leaves when a core is lost",
      .fallback = "0",
      .example = "1",
      .least = INT16_MIN,
      .most = INT16_MAX},
     &ListedTask::importance},
    {{.key = "on_overrun",
      .help = "What happens to a job that exceeds its budget",
      .fallback = "\"report\"",
      .example = "\"demote\"",
      .choices = [] { return copied(overrun_names); }},
     &ListedTask::on_overrun},
    {{.key = "intensity",
      .help =
          "The last-level-cache accesses of a job per 1,000 instructions, for the allocation cache-aware. 0: unknown",
      .fallback = "0",
      .example = "25",
      .most = UINT16_MAX},
     &ListedTask::intensity},
    {{.key = "uses",
      .help = "Up to four resources that a job locks, each with its longest section",
      .fallback = "none",
      .example = "{ bus = \"200us\" }"},
     &ListedTask::uses},
    {{.key = "requests",
      .help = "How often a job locks each of them at most, one after the other. It matters for policy.locks = msrp",
      .fallback = "1",
      .example = "2",
      .least = 1,
      .most = 1'000'000},
     &ListedTask::requests},
    {{.key = "criticality",
      .help = "If a job of high criticality exceeds its budget, tasks of low criticality are given up for it",
      .fallback = "\"low\"",
      .example = "\"high\"",
      .choices =
          [] {
            return Names{"low", "high"};
          }},
     &ListedTask::criticality},
    {{.key = "budget_high",
      .help = "The execution time that a job of high criticality never exceeds",
      .fallback = "the budget",
      .example = "\"3ms\""},
     &ListedTask::budget_high},
    {{.key = "offset",
      .help = "When its first job is released, from the start of the experiment. Admission does not depend on it",
      .fallback = "\"0us\"",
      .example = "\"5ms\""},
     &ListedTask::offset},
    {arrival_info, &ListedTask::arrival},
    {{.key = "gap",
      .help = "sporadic and bursty: the longest gap beyond the period. Each gap is uniform from 0 to this",
      .fallback = "the period",
      .example = "\"5ms\""},
     &ListedTask::gap},
    {burst_info, &ListedTask::burst},
    {execution_info, &ListedTask::execution},
    {execution_min_info, &ListedTask::execution_min},
    {{.key = "execution_trace",
      .help = "The execution times of the jobs in turn, and then again. It replaces execution and execution_min",
      .fallback = "none",
      .example = "[\"1ms\", \"1500us\"]"},
     &ListedTask::execution_trace},
    {{.key = "count",
      .help = "How many tasks of this kind there are. A number is added to their label",
      .fallback = "1",
      .example = "3",
      .least = 1,
      .most = most_generated},
     &ListedTask::count},
};

constexpr Field<Chain> chain_rows[] = {
    {{.key = "label",
      .help = "The name of the chain in reports and sweeps",
      .fallback = "\"chain-\" and its number in the file",
      .example = "\"control\""},
     &Chain::label},
    {{.key = "tasks",
      .help = "The labels of listed tasks, in their order. All have the same period",
      .example = "[\"sensor\", \"valve\"]",
      .is_required = true},
     &Chain::tasks},
    {{.key = "deadline",
      .help = "When the last task ends at the latest, from the nominal release of the first one",
      .fallback = "none",
      .example = "\"30ms\""},
     &Chain::deadline},
};

constexpr Field<Generator> generator_rows[] = {
    {{.key = "tasks",
      .help = "How many tasks are drawn",
      .fallback = "as many as utilization needs",
      .example = "8",
      .least = 1,
      .most = most_generated},
     &Generator::tasks},
    {{.key = "utilization",
      .help = "What all drawn tasks need together. 1 is a whole core",
      .fallback = "whatever they need",
      .example = "1.6",
      .least = 1,
      .most = 1024 * million},
     &Generator::utilization},
    {{.key = "utilizations",
      .help = "How the utilizations of the tasks are drawn",
      .fallback = "\"uunifast-discard\"",
      .example = "\"randfixedsum\"",
      .choices = [] { return names_in(utilization_generators()); }},
     &Generator::utilizations},
    {{.key = "utilization_min",
      .help = "The least utilization of a task",
      .fallback = "0",
      .example = "0.01",
      .most = million},
     &Generator::utilization_min},
    {{.key = "utilization_max",
      .help = "The greatest utilization of a task",
      .fallback = "1",
      .example = "0.6",
      .least = 1,
      .most = million},
     &Generator::utilization_max},
    {{.key = "utilization_min_each",
      .help = "The least utilization of each task in turn, for convolutionalfixedsum",
      .fallback = "utilization_min for all",
      .example = "[0.1, 0.2]",
      .most = million},
     &Generator::utilization_min_each},
    {{.key = "utilization_max_each",
      .help = "The greatest utilization of each task in turn, for convolutionalfixedsum",
      .fallback = "utilization_max for all",
      .example = "[0.5, 0.9]",
      .least = 1,
      .most = million},
     &Generator::utilization_max_each},
    {{.key = "balance",
      .help = "The least utilization as a part of the greatest one, for balanced and balanced-uniform",
      .fallback = "none",
      .example = "0.1",
      .least = 1,
      .most = million},
     &Generator::balance},
    {{.key = "periods",
      .help = "How the periods are drawn",
      .fallback = "\"log-uniform\"",
      .example = "\"automotive\"",
      .choices = [] { return names_in(period_distributions()); }},
     &Generator::periods},
    {{.key = "period_min",
      .help = "The shortest period, for log-uniform and uniform",
      .fallback = "\"10ms\"",
      .example = "\"1ms\""},
     &Generator::period_min},
    {{.key = "period_max",
      .help = "The longest period, for log-uniform and uniform",
      .fallback = "\"100ms\"",
      .example = "\"1s\""},
     &Generator::period_max},
    {{.key = "period_step",
      .help = "Periods are multiples of this, for log-uniform and uniform",
      .fallback = "\"1us\"",
      .example = "\"1ms\""},
     &Generator::period_step},
    {{.key = "period_list",
      .help = "The periods, for list",
      .fallback = "none",
      .example = "[\"1ms\", \"5ms\", \"10ms\"]"},
     &Generator::period_list},
    {{.key = "deadline",
      .help = "The deadline as a part of the period. It is not less than the budget",
      .fallback = "1",
      .example = "0.8",
      .least = 1,
      .most = 7 * million},
     &Generator::deadline},
    {{.key = "jitter",
      .help = "The release jitter as a part of the smaller of period and deadline. The default is a server's",
      .fallback = "0.1",
      .example = "0",
      .most = million - 1},
     &Generator::jitter},
    {{.key = "order",
      .help = "The order of the drawn tasks. policy.order then sorts all tasks, and keeps this order among equal ones",
      .fallback = "\"as-drawn\"",
      .example = "\"random\"",
      .choices =
          [] {
            return Names{"as-drawn", "random", "increasing-period"};
          }},
     &Generator::order},
    {{.key = "offsets",
      .help = "When the first jobs are released: all at the start, or each at a random time within its period",
      .fallback = "\"zero\"",
      .example = "\"random\"",
      .choices =
          [] {
            return Names{"zero", "random"};
          }},
     &Generator::offsets},
    {arrival_info, &Generator::arrival},
    {{.key = "gap",
      .help =
          "sporadic and bursty: the longest gap beyond the period, as a part of it. Each gap is uniform from 0 to this",
      .fallback = "1",
      .example = "0.5",
      .most = 1000 * million},
     &Generator::gap},
    {burst_info, &Generator::burst},
    {execution_info, &Generator::execution},
    {execution_min_info, &Generator::execution_min},
    {{.key = "high_tasks",
      .help = "The part of the drawn tasks that have high criticality. Which ones is random",
      .fallback = "0",
      .example = "0.5",
      .most = million},
     &Generator::high_tasks},
    {{.key = "high_factor",
      .help = "Their budget_high as a multiple of the budget. It is cut at the deadline",
      .fallback = "2",
      .example = "1.5",
      .least = million,
      .most = 1000 * million},
     &Generator::high_factor},
};

constexpr Field<Sweep> sweep_rows[] = {
    {{.key = "field",
      .help = "The field that takes the values in turn: TABLE.FIELD, task.LABEL.FIELD, or one of the top of the file",
      .example = "\"generate.utilization\"",
      .is_required = true},
     &Sweep::field},
    {{.key = "values", .help = "The values, in quotes if the field has them", .example = "[1.4, 1.5, 1.6]"},
     &Sweep::values},
    {{.key = "from", .help = "Instead of values: the first value of a range", .example = "0.1"}, &Sweep::from},
    {{.key = "to", .help = "The last value of the range at most", .example = "2.0"}, &Sweep::to},
    {{.key = "step", .help = "The distance of two values of the range", .example = "0.1"}, &Sweep::step},
};

}  // namespace

std::span<const Field<Scenario>> top_fields() noexcept { return top_rows; }
std::span<const Field<Platform>> platform_fields() noexcept { return platform_rows; }
std::span<const Field<Policy>> policy_fields() noexcept { return policy_rows; }
std::span<const Field<ListedTask>> task_fields() noexcept { return task_rows; }
std::span<const Field<Chain>> chain_fields() noexcept { return chain_rows; }
std::span<const Field<Generator>> generator_fields() noexcept { return generator_rows; }
std::span<const Field<Sweep>> sweep_fields() noexcept { return sweep_rows; }

}  // namespace corelane::eval
