// A SQLite store whose process is killed while it binds names.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>

#include "services/nameserver/stores/open_store.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

namespace {

constexpr int binds_in_all = 10'000, kills = 12;
constexpr int binding_threads = 8;

// In memory that the test shares with the process that it kills.
struct Ledger {
  std::array<std::atomic<bool>, binds_in_all> acknowledged;
  std::atomic<int> acknowledged_in_all, next;
};

class SharedLedger {
 public:
  SharedLedger()
      : ledger_(static_cast<Ledger*>(
            mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  SharedLedger(const SharedLedger&) = delete;
  SharedLedger& operator=(const SharedLedger&) = delete;
  ~SharedLedger() { munmap(ledger_, sizeof(Ledger)); }
  Ledger* operator->() const { return ledger_; }

 private:
  Ledger* const ledger_;  // zeros: nothing acknowledged
};

std::string reference_of_bind(int number) {
  return "IOR:" + std::string(static_cast<std::size_t>(number % 600), 'r') + std::to_string(number);
}
NameComponent name_of_bind(int number) { return {"name " + std::to_string(number), std::to_string(number % 7)}; }

void bind_what_is_left(const std::string& path, const SharedLedger& ledger) {
  const auto store = open_store("sqlite:" + path).value();
  std::vector<std::jthread> threads;
  for (int t = 0; t < binding_threads; ++t)
    threads.emplace_back([&] {
      for (int number = ledger->next++; number < binds_in_all; number = ledger->next++) {
        // A bind that was under way when the previous process was killed may exist already.
        if (!store->replace(root_context, name_of_bind(number), object_at(reference_of_bind(number)))) _exit(1);
        ledger->acknowledged[static_cast<std::size_t>(number)] = true;
        ++ledger->acknowledged_in_all;
      }
    });
}

pid_t start_writer(const std::string& path, const SharedLedger& ledger) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  bind_what_is_left(path, ledger);
  _exit(0);
}

bool has_ended(pid_t child) {
  siginfo_t ended{};
  return waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0;
}

// Kills the writer when so many binds are acknowledged. Returns its exit status, or minus the signal.
int end_writer(pid_t child, const SharedLedger& ledger, int acknowledged) {
  while (ledger->acknowledged_in_all < acknowledged && !has_ended(child)) std::this_thread::yield();
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// Checks that every acknowledged name exists, and that every existing name is complete.
void check_kept(Store& store, const SharedLedger& ledger) {
  int lost = 0, spoiled = 0;
  for (int number = 0; number < binds_in_all; ++number) {
    const auto found = store.find(root_context, name_of_bind(number));
    if (!found && ledger->acknowledged[static_cast<std::size_t>(number)]) ++lost;
    if (found && *found != object_at(reference_of_bind(number))) ++spoiled;
  }
  CHECK(lost == 0);
  CHECK(spoiled == 0);
}

}  // namespace

TEST_CASE("none of ten thousand bound names is lost when the process is killed again and again") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string path = directory / "names.db";
  const SharedLedger ledger;
  std::minstd_rand random(std::random_device{}());
  for (int i = 0; i < kills; ++i) {
    const int until =
        ledger->acknowledged_in_all + std::uniform_int_distribution<int>(0, 2 * binds_in_all / kills)(random);
    INFO("killed once " << until << " were acknowledged");
    const int end = end_writer(start_writer(path, ledger), ledger, std::min(until, binds_in_all));
    CHECK((end == -SIGKILL || end == 0));
    check_kept(*open_store("sqlite:" + path).value(), ledger);
  }
  bind_what_is_left(path, ledger);
  const auto store = open_store("sqlite:" + path).value();
  check_kept(*store, ledger);
  CHECK(store->list(root_context, nullptr, 2 * binds_in_all)->size() >=
        static_cast<std::size_t>(ledger->acknowledged_in_all));
  CHECK(ledger->acknowledged_in_all >= binds_in_all - (kills + 1) * binding_threads);
}
