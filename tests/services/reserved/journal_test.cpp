// The journal of changes to the host on disk, and interrupts, which the daemon restores from it.
#include "services/reserved/backends/journal.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "orb/os/machine/core_list.h"
#include "services/reserved/backends/cores/memory_of_threads.h"
#include "services/reserved/backends/cores/restore.h"
#include "services/reserved/backends/interrupts.h"
#include "tests/services/reserved/fake_host.h"
#include "tests/services/reserved/reserving_host.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::reserved;
using corelane::testing::FakeHost;
using corelane::testing::FakeProcesses;
using corelane::testing::HostKind;
using corelane::testing::TempDirectory;

TEST_CASE("a journal has one daemon, and says so to the next") {
  const TempDirectory directory;
  const Journal first = Journal::open(directory / "journal").value();
  const auto second = Journal::open(directory / "journal");
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error(), Catch::Contains("another corelane-reserved uses it"));
  CHECK_THAT(Journal::open(directory / "none" + std::string("/journal")).error(), Catch::Contains("cannot be opened"));
}

TEST_CASE("a file of another user in the journal's place is reported with its user and the advice to remove it") {
  const TempDirectory directory;
  std::filesystem::create_symlink("/dev/null", directory / "link");
  std::filesystem::create_directory(directory / "folder");
  REQUIRE(mkfifo((directory / "fifo").c_str(), 0600) == 0);
  for (const char* const name : {"link", "folder", "fifo"}) {
    CAPTURE(name);
    CHECK_THAT(Journal::open(directory / name).error(), Catch::Contains(name) && Catch::Contains("remove it"));
  }
  std::ofstream(directory / "theirs") << "x";
  if (chown((directory / "theirs").c_str(), 12345, 12345) != 0) return;  // only root may do this
  CHECK_THAT(Journal::open(directory / "theirs").error(), Catch::Contains("belongs to user 12345, and this is user "));
}

TEST_CASE("a journal tells of lines that are damaged and keeps them, but not of a torn one") {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  const std::string whole = "+" + journal_line({.where = "cpuset", .subject = "corelane-default"}) + "\n";
  const auto damage_of = [&](const std::string& text) {
    std::ofstream(path) << text;
    const Journal journal = Journal::open(path).value();
    CHECK(journal.entries().size() == (text.starts_with("junk") ? 0 : 1));
    return journal.damage();
  };
  CHECK(damage_of(whole + "\n+affi") == "");
  CHECK(damage_of(whole + "\n+affinity\t\t\t12") == "");
  CHECK_THAT(damage_of(whole + "\nnoise\n"), Catch::Contains("1 line is damaged"));
  CHECK_THAT(damage_of("junk" + whole.substr(4)), Catch::Contains(path + ".damaged"));
  CHECK(std::filesystem::file_size(path + ".damaged") == whole.size());
}

TEST_CASE("a line of the journal that leads to another program's file or group is damage") {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  const auto [kind, subject, ours] = GENERATE(table<JournalEntry::Kind, std::string, bool>({
      {JournalEntry::Kind::interrupt, "36/smp_affinity_list", true},
      {JournalEntry::Kind::interrupt, "default_smp_affinity", true},
      {JournalEntry::Kind::interrupt, "../../etc/passwd", false},
      {JournalEntry::Kind::interrupt, "36/../../../etc/passwd", false},
      {JournalEntry::Kind::interrupt, "/smp_affinity_list", false},
      {JournalEntry::Kind::interrupt, "36", false},
      {JournalEntry::Kind::group, "corelane-default", true},
      {JournalEntry::Kind::group, "box/corelane-r17/m17", true},
      {JournalEntry::Kind::group, "", false},
      {JournalEntry::Kind::group, "docker", false},
      {JournalEntry::Kind::group, "corelane-r17/docker", false},
      {JournalEntry::Kind::group, "docker/m17", false},
      {JournalEntry::Kind::value, "a..b/cgroup.subtree_control", true},
      {JournalEntry::Kind::value, "docker/cpuset.cpus", false},
      {JournalEntry::Kind::value, "corelane-default/../../schemata", false},
      {JournalEntry::Kind::home, "..", false},
  }));
  const JournalEntry entry{.kind = kind, .where = "cpuset", .subject = subject, .process = {7, 8}};
  std::ofstream(path) << "+" + journal_line(entry) + "\n";
  const Journal journal = Journal::open(path).value();
  CAPTURE(subject);
  CHECK(journal.entries().size() == (ours ? 1 : 0));
  CHECK(journal.damage().empty() == ours);
}

TEST_CASE("a line of the journal that tells of no state that can be put back is damage") {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  const auto [line, sound] = GENERATE(table<std::string, bool>({
      {"affinity\t\t1\t7\t8\t0-1.", true},
      {"affinity\t\t1\t7\t8\tall.", false},
      {"affinity\t\tone\t7\t8\t0-1.", false},
      {"affinity\t\t1\t0\t0\t0-1.", false},
      {"mask\t\t1\t0\t0\t0-1.", true},
      {"mask\t\tzz\t0\t0\t0-1.", false},
      {"policy\t\t\t7\t8\t1 0 0 10 0 0 0.", true},
      {"policy\t\t\t7\t8\tfifo.", false},
      {"interrupt\t\tdefault_smp_affinity\t0\t0\tf,ffffffff.", true},
      {"interrupt\t\t7/smp_affinity_list\t0\t0\tall.", false},
      {"home\tcpuset\t\t7\t8\tbox.", true},
      {"home\tcpuset\t\t-7\t8\tbox.", false},
      {"home\tcpusets\t\t7\t8\tbox.", false},
      {"value\tnowhere\tschemata\t0\t0\tL3:0=f.", false},
  }));
  std::ofstream(path) << "+" + line + "\n";
  const Journal journal = Journal::open(path).value();
  CAPTURE(line);
  CHECK(journal.entries().size() == (sound ? 1 : 0));
  CHECK(journal.damage().empty() == sound);
}

TEST_CASE("a name may hold any byte, and one without odd ones is written as it is") {
  const TempDirectory directory;
  const auto [name, written] = GENERATE(table<std::string, std::string>({
      {"a\tb", R"(a\011b)"},
      {"\x01\n\x7f", R"(\001\012\177)"},
      {R"(\011)", R"(\134011)"},
      {"\\\t", R"(\\011)"},
      {"\\01\t1", R"(\01\0111)"},
      {R"(\134011)", R"(\134134011)"},
      {R"(\400)", R"(\400)"},
      {R"(system-systemd\x2dfsck.slice)", R"(system-systemd\x2dfsck.slice)"},
      {"d\xc3\xa9j\xc3\xa0 vu\\", "d\xc3\xa9j\xc3\xa0 vu\\"},
  }));
  CAPTURE(written);
  const JournalEntry entry{
      .kind = JournalEntry::Kind::home, .where = "cpu", .subject = name, .process = {7, 8}, .before = name};
  CHECK(journal_line(entry) == "home\tcpu\t" + written + "\t7\t8\t" + written + ".");
  const std::string path = directory / "journal";
  REQUIRE(Journal::open(path).value().add(entry));
  {
    Journal journal = Journal::open(path).value();
    CHECK(journal.damage() == "");
    REQUIRE(journal.entries() == std::vector{entry});
    journal.drop(entry);
  }
  CHECK(Journal::open(path).value().entries().empty());
}

TEST_CASE("how a thread is scheduled is written down in full, and an old entry is of an ordinary one") {
  const os::SchedulingClass fair{.policy = 3, .nice = 19},
      own{.policy = corelane::os::deadline_class, .runtime = 1'000'000, .deadline = 1, .period = 2};
  for (const os::SchedulingClass& one : {fair, own}) CHECK(parse_scheduling(scheduling_text(one)) == one);
  CHECK(parse_scheduling("") == os::SchedulingClass{});
  CHECK(parse_scheduling("1 0 x") == os::SchedulingClass{});
}

TEST_CASE("a journal that was written a thousand times stays short") {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  {
    Journal journal = Journal::open(path).value();
    const JournalEntry kept{.kind = JournalEntry::Kind::group, .where = "cpuset", .subject = "corelane-default"};
    REQUIRE(journal.add(kept));
    for (int i = 0; i < 3000; ++i) {
      const JournalEntry entry{
          .kind = JournalEntry::Kind::group, .where = "cpuset", .subject = "corelane-r" + std::to_string(i)};
      REQUIRE(journal.add(entry));
      journal.drop(entry);
    }
  }
  CHECK(std::filesystem::file_size(path) < 100'000);
  CHECK(Journal::open(path).value().entries().size() == 1);
}

namespace {

// Limits the size of this process's files, as a full disk does.
class FullDisk {
 public:
  explicit FullDisk(std::uintmax_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_;
};

}  // namespace

TEST_CASE("if the journal cannot be written, no process is moved, and the request is refused with that reason") {
  FakeHost fake(GENERATE(HostKind::v1, HostKind::v2, HostKind::affinity));
  const int app = fake.processes.fork_from(fake.shell);
  fake.controller();
  std::string reason;
  {
    const FullDisk full(std::filesystem::file_size(fake.journal.path()));
    const auto refused = fake.reserve(app);
    if (!refused) reason = refused.error().reason;
  }
  CHECK_THAT(reason, Catch::Contains("cannot be written: File too large") && Catch::Contains("make room there"));
  CHECK(fake.controller().accounts().empty());
  CHECK(fake.cores_of(app) == "0-3");
  CHECK(fake.reserve(app));
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("an interrupt that cannot be put back is not forgotten") {
  const TempDirectory directory;
  std::filesystem::create_directory(directory / "7");
  const std::string file = directory / "7/smp_affinity_list";
  std::ofstream(file) << "8000\n";
  Journal journal = Journal::open(directory / "journal").value();
  Interrupts interrupts(directory.path(), journal);
  interrupts.keep_to(os::parse_core_list("8001").value());
  REQUIRE(journal.entries().size() == 1);
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/sys/devices/system/cpu/online", file);  // a list that cannot be written
  interrupts.keep_to(os::parse_core_list("8000-8001").value());
  CHECK(interrupts.report().fixed == 1);
  REQUIRE(journal.entries().size() == 1);
  CHECK(journal.entries().front().before == "8000");
}

TEST_CASE("an interrupt that the kernel refuses is tried again when the cores change and not before") {
  const TempDirectory directory;
  std::filesystem::create_directory(directory / "7");
  const std::string file = directory / "7/smp_affinity_list";
  std::filesystem::create_symlink("/sys/devices/system/cpu/online", file);  // a list that cannot be written
  Journal journal = Journal::open(directory / "journal").value();
  Interrupts interrupts(directory.path(), journal);
  interrupts.keep_to(os::parse_core_list("8000").value());
  CHECK(interrupts.report().fixed == 1);
  std::filesystem::remove(file);
  std::ofstream(file) << "8000-8001\n";
  const auto cores = [&] { return MountedGroups(directory.path()).read("7/smp_affinity_list").value(); };
  interrupts.keep_away_again(os::parse_core_list("8000").value());
  CHECK(cores() == "8000-8001");
  CHECK(interrupts.report().fixed == 1);
  interrupts.keep_to(os::parse_core_list("8000").value());
  CHECK(cores() == "8000");
}

namespace {

// A host with an interrupt that may use all cores, and a reservation of core 3.
struct InterruptedHost : corelane::testing::FakeHost {
  InterruptedHost() {
    std::filesystem::create_directories(directory / "irq/30");
    send_to("0-3");
    const auto granted = reserve(shell);
    REQUIRE(granted);
    CHECK(cores() == "0-2");
  }
  std::string file() const { return directory / "irq/30/smp_affinity_list"; }
  void send_to(const std::string& cores) const { std::ofstream(file()) << cores << "\n"; }
  std::string cores() const {
    std::string text;
    std::getline(std::ifstream(file()), text);
    return text;
  }
  void pass(Duration time) {
    now += time;
    controller().tick();
  }
};

}  // namespace

TEST_CASE("an interrupt that another program sends to a reserved core is moved away within ten seconds") {
  InterruptedHost host;
  host.send_to("1,3");
  host.pass(std::chrono::seconds{10} - Duration{1});
  CHECK(host.cores() == "1,3");
  host.pass(Duration{1});
  CHECK(host.cores() == "0-2");
  CHECK(host.controller().status().interrupts.steered == 1);
}

TEST_CASE("an interrupt that another program sends to an unreserved core stays there") {
  InterruptedHost host;
  host.send_to("1");
  host.pass(std::chrono::seconds{10});
  CHECK(host.cores() == "1");
  CHECK(host.controller().status().interrupts.steered == 1);
}

TEST_CASE("irqbalance is told with what to do about it while it runs") {
  InterruptedHost host;
  const int balancer = host.processes.fork_from(0);
  host.processes.entries[balancer].name = "irqbalance";
  host.pass(std::chrono::seconds{10});
  CHECK_THAT(host.controller().status().backend.cannot.back(), Catch::Contains("systemctl disable --now irqbalance"));
  host.kill(balancer);
  host.pass(std::chrono::seconds{10});
  for (const std::string& lack : host.controller().status().backend.cannot)
    CHECK_THAT(lack, !Catch::Contains("irqbalance"));
}

TEST_CASE("interrupts stay away from reserved cores and come back") {
  const TempDirectory directory;
  for (const char* number : {"/7", "/8", "/9"}) std::filesystem::create_directory(directory.path() + number);
  const auto list_of = [&](const char* number) {
    return MountedGroups(directory.path()).read(std::string(number) + "/smp_affinity_list").value_or("none");
  };
  std::ofstream(directory / "7/smp_affinity_list") << "0-3\n";
  std::ofstream(directory / "8/smp_affinity_list") << "3\n";
  Journal journal = Journal::open(directory / "journal").value();
  Interrupts interrupts(directory.path(), journal);
  interrupts.keep_to(os::parse_core_list("0-2").value());
  CHECK((list_of("7") == "0-2" && list_of("8") == "0-2"));
  CHECK((interrupts.report().steered == 2 && interrupts.report().fixed == 1));
  interrupts.keep_to(os::parse_core_list("0-3").value());
  CHECK((list_of("7") == "0-3" && list_of("8") == "3"));
  CHECK(journal.entries().empty());
  std::ofstream(directory / "default_smp_affinity") << "f,ffffffff\n";
  const auto of_those_to_come = [&] { return MountedGroups(directory.path()).read("default_smp_affinity").value(); };
  interrupts.keep_to(os::parse_core_list("0-2,32-33").value());
  CHECK(of_those_to_come() == "3,00000007");
  interrupts.keep_to(os::parse_core_list("0").value());
  CHECK(of_those_to_come() == "1");
  FakeProcesses nobody({});
  CHECK(restore({.processes = &nobody, .journal = &journal}, directory.path()).empty());
  CHECK((list_of("7") == "0-3" && list_of("8") == "3"));
  CHECK(of_those_to_come() == "f,ffffffff");
}
