#include "services/reserved/accounts/accounts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <iterator>
#include <random>

#include "orb/os/machine/core_list.h"
#include "services/reserved/accounts/request_check.h"
#include "tests/services/reserved/commands_model.h"

using namespace corelane;
using namespace corelane::reserved;
using corelane::testing::CommandsModel;
using namespace std::chrono_literals;

namespace {

std::vector<os::CoreInfo> machine_of(const char* description) {
  return os::Topology::synthetic(description).value().cores();
}

std::vector<CoreId> core_list(const char* text) { return os::parse_core_list(text).value(); }

Process process_of(int pid) { return {.pid = pid, .start_ticks = 7}; }

// A host with its accounts, and the clients that ask.
class Books {
 public:
  explicit Books(const char* description, AccountOptions options = {})
      : accounts(machine_of(description), std::move(options)), model(accounts.common()) {}

  void tell(const Fact& fact) {
    last = accounts.decide(fact);
    std::ranges::copy(accounts.decide(NotFreedYet{time_of(fact), held}), std::back_inserter(last));
    model.carry_out(last);
    CHECK(model.faults == std::vector<std::string>{});
    CHECK(os::core_list_text(model.common) == os::core_list_text(accounts.common()));
  }
  Time time_of(const Fact& fact) const {
    const auto time = [this](const auto& one) {
      if constexpr (requires { one.at; })
        return one.at;
      else
        return now;
    };
    return std::visit(time, fact);
  }
  ReservationId ask(int pid, Wanted wanted, Terms terms = {}, Extent extent = Extent::process) {
    tell(Asked{now, {.process = process_of(pid), .extent = extent, .thread = pid}, wanted, terms});
    for (const Command& command : last) {
      if (const auto* granted = std::get_if<Granted>(&command)) return granted->id;
      if (const auto* queued = std::get_if<Queued>(&command)) return queued->id;
    }
    return no_reservation;
  }
  ReservationId ask_cores(int pid, int count, bool queues = false) {
    return ask(pid, CoresWanted{.count = count}, {.queues = queues});
  }
  ReservationId ask_share(int pid, Duration budget, Duration period, Extent extent = Extent::tree) {
    return ask(pid, ShareWanted{budget, period}, {}, extent);
  }
  Refusal refusal() const {
    for (const Command& command : last)
      if (const auto* refused = std::get_if<Refused>(&command)) return refused->why;
    return {};
  }
  std::string cores_of(ReservationId id) const { return os::core_list_text(accounts.find(id)->place.cores); }
  std::string idle_of(ReservationId id) const { return os::core_list_text(accounts.find(id)->place.idle); }
  bool waits(ReservationId id) const { return accounts.find(id) != nullptr && accounts.find(id)->waiting; }

  Accounts accounts;
  CommandsModel model;
  Commands last;
  std::vector<CoreId> held;  // cores that were released but that the kernel still keeps
  Time now{};
};

}  // namespace

TEST_CASE("a core that is reserved belongs to one process until it is given back") {
  Books books("core:4 pu:1");
  const auto one = books.ask_cores(1, 3);
  CHECK(books.cores_of(one) == "1-3");
  CHECK(os::core_list_text(books.accounts.common()) == "0");
  CHECK(books.ask_cores(2, 1) == no_reservation);
  CHECK(books.refusal().kind == RefusalKind::no_room);
  books.tell(Released{books.now, one});
  CHECK(books.ask_cores(2, 1) != no_reservation);
}

TEST_CASE("a core that the kernel still holds after it was given back is given to no process until it is free") {
  Books books("core:2 pu:1");
  const auto one = books.ask_cores(1, 1), waiting = books.ask_cores(2, 1, true);
  books.held = core_list("1");
  books.tell(Released{books.now, one});
  CHECK(books.waits(waiting));
  books.tell(Released{books.now, waiting});
  CHECK(books.ask_cores(3, 1) == no_reservation);
  CHECK(books.ask_share(3, 1ms, 10ms) == no_reservation);
  const auto next = books.ask_cores(4, 1, true);
  books.held.clear();
  books.tell(Ticked{books.now});
  CHECK_FALSE(books.waits(next));
  CHECK(books.cores_of(next) == "1");
}

TEST_CASE("the first physical core stays in the default set unless others are named") {
  Books books("core:2 pu:2");
  CHECK(books.ask(1, CoresWanted{.these = core_list("0-1")}) == no_reservation);
  CHECK(books.refusal().kind == RefusalKind::never_fits);
  Books other("core:2 pu:2", {.kept = core_list("2-3")});
  CHECK(other.ask(1, CoresWanted{.count = 1}) != no_reservation);
}

TEST_CASE("a sibling is used as the request says") {
  Books books("core:4 pu:2");
  const auto idle = books.ask(1, CoresWanted{.count = 1, .siblings = Siblings::idle});
  CHECK((books.cores_of(idle) == "6" && books.idle_of(idle) == "7"));
  const auto mine = books.ask(2, CoresWanted{.count = 2, .siblings = Siblings::mine});
  CHECK((books.cores_of(mine) == "4-5" && books.idle_of(mine).empty()));
  const auto others = books.ask(3, CoresWanted{.count = 1, .siblings = Siblings::others});
  CHECK((books.cores_of(others) == "3" && books.idle_of(others).empty()));
  CHECK(os::core_list_text(books.accounts.common()) == "0-2");
}

TEST_CASE("an odd number of siblings leaves the last one idle") {
  Books books("core:4 pu:2");
  const auto id = books.ask(1, CoresWanted{.count = 3, .siblings = Siblings::mine});
  CHECK((books.cores_of(id) == "4,6-7" && books.idle_of(id) == "5"));
}

TEST_CASE("cores are near each other where there are such") {
  Books books("l3:3 core:3 pu:1");  // the caches have the cores 0-2, 3-5 and 6-8
  CHECK(books.cores_of(books.ask(1, CoresWanted{.count = 2, .nearness = Nearness::near})) == "1-2");
  CHECK(books.cores_of(books.ask(2, CoresWanted{.count = 3, .nearness = Nearness::one_cache})) == "6-8");
  CHECK(books.ask(3, CoresWanted{.count = 4, .nearness = Nearness::one_cache}) == no_reservation);
  CHECK(books.refusal().kind == RefusalKind::never_fits);
  CHECK(books.refusal().fits == "3 cores");
}

TEST_CASE("a refusal for want of room says what would fit") {
  Books books("core:4 pu:1");
  books.ask_cores(1, 1);
  CHECK(books.ask_cores(2, 3) == no_reservation);
  CHECK(books.refusal().fits == "2 cores");
}

TEST_CASE("waiting requests are served in order, and none overtakes another") {
  Books books("core:4 pu:1");
  const auto first = books.ask_cores(1, 2);
  const auto large = books.ask_cores(2, 3, true);
  const auto small = books.ask_cores(3, 1, true);
  CHECK((books.waits(large) && books.waits(small)));
  CHECK(books.accounts.position(small) == 1);
  CHECK(books.ask_cores(4, 1) == no_reservation);
  books.tell(Released{books.now, first});
  CHECK_FALSE(books.waits(large));
  CHECK(books.waits(small));
  books.tell(Died{books.now, process_of(2)});
  CHECK_FALSE(books.waits(small));
}

TEST_CASE("shares are packed onto one core while they fit, and each kind onto its own") {
  Books books("core:4 pu:1");
  const auto a = books.ask_share(1, 4ms, 10ms);
  const auto b = books.ask_share(2, 5ms, 10ms);
  const auto c = books.ask_share(3, 1ms, 10ms);
  const auto thread = books.ask_share(4, 1ms, 10ms, Extent::thread);
  CHECK((books.cores_of(a) == "3" && books.cores_of(b) == "3"));
  CHECK(books.cores_of(c) == "2");
  CHECK(books.cores_of(thread) == "1");
  CHECK(books.accounts.find(c)->guarantee == Guarantee::tree_bandwidth);
  CHECK(books.accounts.find(thread)->guarantee == Guarantee::thread_deadline);
}

TEST_CASE("a core is shared up to 95 per cent exactly") {
  Books books("core:2 pu:1");
  CHECK(books.ask_share(1, 45ms, 100ms) != no_reservation);
  CHECK(books.ask_share(2, 51ms, 100ms) == no_reservation);
  CHECK(books.refusal().fits == "50ms in every 100ms");
  CHECK(books.ask_share(2, 50ms, 100ms) != no_reservation);
  CHECK(books.ask_share(3, 1ms, 1s) == no_reservation);
}

TEST_CASE("a core that no process shares any more goes back to the default set") {
  Books books("core:2 pu:1");
  const auto a = books.ask_share(1, 1ms, 10ms);
  const auto b = books.ask_share(2, 1ms, 10ms);
  books.tell(Released{books.now, a});
  CHECK(os::core_list_text(books.accounts.common()) == "0");
  books.tell(Died{books.now, process_of(2)});  // a tree outlives its first process
  CHECK(os::core_list_text(books.accounts.common()) == "0");
  books.tell(Released{books.now, b});
  CHECK(os::core_list_text(books.accounts.common()) == "0-1");
}

TEST_CASE("a lease ends unless it is renewed") {
  Books books("core:4 pu:1");
  const auto a = books.ask(1, CoresWanted{.count = 1}, {.lease = 10s});
  const auto b = books.ask(2, CoresWanted{.count = 1}, {.lease = 10s});
  books.tell(Renewed{Time{9s}, b, 10s});
  CHECK(books.accounts.next_end() == Time{10s});
  books.tell(Ticked{Time{10s}});
  CHECK(books.accounts.find(a) == nullptr);
  CHECK(books.accounts.find(b) != nullptr);
  books.tell(Ticked{Time{19s} - 1ns});
  CHECK(books.accounts.find(b) != nullptr);
}

TEST_CASE("a lease that is renewed while it waits begins anew with its grant") {
  Books books("core:2 pu:1");
  const auto first = books.ask_cores(1, 1);
  const auto waiting = books.ask(2, CoresWanted{.count = 1}, {.lease = 10s, .queues = true});
  books.tell(Renewed{Time{1s}, waiting, 20s});
  books.tell(Released{Time{5s}, first});
  CHECK(books.accounts.next_end() == Time{25s});
}

TEST_CASE("a service works on its client's cores only where they were lent to it, and goes home") {
  Books books("core:4 pu:1");
  const auto client = books.ask_cores(1, 1);
  const auto own = books.ask_cores(2, 1);
  books.tell(LoanUseBegan{client, process_of(2)});
  CHECK(books.last.empty());
  books.tell(Lent{client, process_of(2)});
  books.tell(LoanUseBegan{client, process_of(2)});
  CHECK(books.accounts.find(client)->loans.front().in_use);
  books.tell(LoanUseEnded{client, process_of(2), 3ms});
  CHECK(std::get<Part>(books.last.front()).home == own);
  books.tell(LoanUseBegan{client, process_of(2)});
  books.tell(TakenBack{client, process_of(2), 4ms});
  CHECK(books.accounts.find(client)->loans.front().over);
}

TEST_CASE("a service that ends on its client's cores is parted from them") {
  Books books("core:4 pu:1");
  const auto client = books.ask_cores(1, 1);
  books.tell(Lent{client, process_of(2)});
  books.tell(LoanUseBegan{client, process_of(2)});
  books.tell(Died{books.now, process_of(2), 3ms});
  CHECK(std::get<Part>(books.last.front()).service == process_of(2));
}

TEST_CASE("the account of a loan outlives it, and those of the oldest beyond the bound are added together") {
  AccountOptions options;
  options.limits.loans = 2;
  Books books("core:4 pu:1", std::move(options));
  const auto client = books.ask_cores(1, 1);
  for (const int service : {2, 3, 4, 5}) {
    books.tell(Lent{client, process_of(service)});
    books.tell(LoanUseBegan{client, process_of(service)});
    books.tell(service % 2 == 0 ? Fact{TakenBack{client, process_of(service), 1ms}}
                                : Fact{Died{books.now, process_of(service), 1ms}});
  }
  const auto& loans = books.accounts.find(client)->loans;
  REQUIRE(loans.size() == 3);
  CHECK((loans[0].service.pid == 0 && loans[0].used == 2ms && loans[0].times == 2));
  CHECK((loans[1].service.pid == 4 && loans[1].used == 1ms && loans[2].service.pid == 5));
}

TEST_CASE("a loan that was never used leaves nothing behind") {
  Books books("core:4 pu:1");
  const auto client = books.ask_cores(1, 1);
  books.tell(Lent{client, process_of(2)});
  books.tell(TakenBack{client, process_of(2), {}});
  CHECK(books.accounts.find(client)->loans.empty());
}

TEST_CASE("one of a tree goes back to the tree's cores as long as that has them, unless it has some of its own") {
  Books books("core:5 pu:1");
  const auto client = books.ask_cores(1, 1), tree = books.ask_cores(2, 1);
  const Process child = process_of(3);
  books.tell(Lent{client, child});
  const auto home_after_visit = [&](auto&& meanwhile) {
    books.tell(LoanUseBegan{client, child, tree});
    meanwhile();
    books.tell(LoanUseEnded{client, child, 3ms});
    return std::get<Part>(books.last.front()).home;
  };
  CHECK(home_after_visit([] {}) == tree);
  ReservationId own;
  CHECK(home_after_visit([&] { own = books.ask_cores(3, 1); }) == own);
  books.tell(Released{books.now, own});
  CHECK(home_after_visit([&] { books.tell(Released{books.now, tree}); }) == no_reservation);
}

TEST_CASE("a loan beyond the bound is refused with the reason") {
  AccountOptions options;
  options.limits.loans = 1;
  Books books("core:4 pu:1", std::move(options));
  const auto client = books.ask_cores(1, 1);
  for (int i = 0; i < 2; ++i) books.tell(Lent{client, process_of(2)});
  CHECK(books.refusal().reason.empty());
  books.tell(Lent{client, process_of(3)});
  CHECK_THAT(books.refusal().reason, Catch::Contains("take it back"));
}

TEST_CASE("work of a service on a client's cores is in the client's account") {
  Books books("core:4 pu:1");
  const auto client = books.ask_cores(1, 1);
  books.tell(Lent{client, process_of(2)});
  for (int i = 0; i < 2; ++i) {
    books.tell(LoanUseBegan{client, process_of(2)});
    books.tell(LoanUseEnded{client, process_of(2), 3ms});
  }
  const Loan& loan = books.accounts.find(client)->loans.front();
  CHECK((loan.used == 6ms && loan.times == 2));
}

TEST_CASE("a service goes home when its client dies while it works there") {
  Books books("core:4 pu:1");
  const auto client = books.ask_cores(1, 1);
  books.tell(Lent{client, process_of(2)});
  books.tell(LoanUseBegan{client, process_of(2)});
  books.tell(Died{books.now, process_of(1)});
  CHECK(std::holds_alternative<Part>(books.last.front()));
}

TEST_CASE("a service charges its work to its clients, those beyond the bound together") {
  Books books("core:4 pu:1", {.limits = {.charges = 3}});
  const auto service = books.ask_cores(1, 1);
  for (const int client : {2, 3, 4, 5, 2}) books.tell(Charged{service, process_of(client), 1ms});
  const auto& charges = books.accounts.find(service)->charges;
  REQUIRE(charges.size() == 3);
  CHECK((charges[0].client.pid == 2 && charges[0].used == 2ms && charges[0].times == 2));
  CHECK((charges[2].client.pid == 0 && charges[2].times == 2));
}

// Refusals.

TEST_CASE("a request that makes no sense is refused with the reason") {
  struct Row {
    Wanted wanted;
    Extent extent;
    const char* says;
  };
  const Row row = GENERATE(values<Row>({
      {CoresWanted{}, Extent::process, "how many cores?"},
      {CoresWanted{.count = -1}, Extent::process, "how many cores?"},
      {CoresWanted{.count = 1}, Extent::thread, "not for one thread"},
      {CoresWanted{.these = {CoreId{9}}}, Extent::tree, "core 9 is none of this host's that can be reserved (0-3)"},
      {CoresWanted{.count = 2, .these = {CoreId{2}}}, Extent::tree, "2 cores out of 1 named"},
      {ShareWanted{11ms, 10ms}, Extent::tree, "longer than its period"},
      {ShareWanted{999us, 10ms}, Extent::tree, "has to be 1ms at least"},
      {ShareWanted{1ms, 2s}, Extent::tree, "1ms to 1s"},
      {ShareWanted{Duration{1023}, 1ms}, Extent::thread, "has to be 1024ns at least"},
      {ShareWanted{10us, 99us}, Extent::thread, "100us to 1s"},
      {ShareWanted{Duration{-1}, 1ms}, Extent::thread, "at least"},
      {ShareWanted{96ms, 100ms}, Extent::process, "95 % of a core"},
  }));
  Books books("core:4 pu:1");
  CHECK(books.ask(1, row.wanted, {}, row.extent) == no_reservation);
  CHECK(books.refusal().kind == RefusalKind::bad_request);
  CHECK_THAT(books.refusal().reason, Catch::Contains(row.says));
}

TEST_CASE("a process has one reservation at a time, its threads one share each") {
  Books books("core:4 pu:1");
  books.ask_cores(1, 1);
  CHECK(books.ask_cores(1, 1) == no_reservation);
  CHECK_THAT(books.refusal().reason, Catch::Contains("has reservation 1; it has one at a time"));
  CHECK(books.ask_share(2, 1ms, 10ms, Extent::thread) != no_reservation);
  CHECK(books.ask_share(2, 1ms, 10ms, Extent::thread) == no_reservation);
}

TEST_CASE("a host of one core has none to give") {
  Books books("core:1 pu:2");
  CHECK(books.ask_cores(1, 1, true) == no_reservation);
  CHECK(books.refusal().kind == RefusalKind::never_fits);
}

TEST_CASE("a reservation that could not be applied is given back, and the next one served") {
  Books books("core:2 pu:1");
  const auto failed = books.ask_cores(1, 1);
  const auto next = books.ask_cores(2, 1, true);
  books.tell(Failed{books.now, failed});
  CHECK_FALSE(books.waits(next));
}

TEST_CASE("facts about what is not there change nothing") {
  Books books("core:2 pu:1");
  const ReservationId none{99};
  const Process someone = process_of(1);
  for (const Fact& fact :
       {Fact{Released{{}, none}}, Fact{Renewed{{}, none, 1s}}, Fact{Died{{}, someone}}, Fact{Lent{none, someone}},
        Fact{TakenBack{none, someone, 1s}}, Fact{LoanUseBegan{none, someone}}, Fact{LoanUseEnded{none, someone, 1s}},
        Fact{Charged{none, someone, 1s}}}) {
    books.tell(fact);
    CHECK(books.last.empty());
  }
}

// Properties that hold for random sequences.

namespace {

Fact random_fact(std::mt19937& random, Time now) {
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  const Process process = process_of(1 + draw(8));
  const ReservationId id{static_cast<std::uint64_t>(1 + draw(30))};
  switch (draw(10)) {
    case 0:
      return Died{now, process};
    case 1:
      return Released{now, id};
    case 2:
      return Failed{now, id};
    case 3:
      return Ticked{now};
    case 4:
      return Lent{id, process};
    case 5:
      return LoanUseBegan{id, process};
    case 6:
      return LoanUseEnded{id, process, 1ms};
    case 7:
      return NotFreedYet{now, draw(2) == 0 ? core_list("1") : std::vector<CoreId>{}};
    default:
      break;
  }
  Wanted wanted = ShareWanted{1ms * (1 + draw(9)), 10ms};
  const auto extent = static_cast<Extent>(draw(3));
  if (draw(2) == 0)
    wanted = CoresWanted{
        .count = 1 + draw(4), .nearness = static_cast<Nearness>(draw(4)), .siblings = static_cast<Siblings>(draw(3))};
  const Terms terms{.lease = draw(3) == 0 ? Duration{5ms * draw(5)} : Duration{}, .queues = draw(2) == 0};
  return Asked{now, {.process = process, .extent = extent, .thread = process.pid}, wanted, terms};
}

}  // namespace

TEST_CASE("after a thousand random lives no core is lost") {
  const char* const hosts[] = {"core:2 pu:1", "core:4 pu:2", "l3:2 core:4 pu:1", "numa:2 l3:2 core:2 pu:2"};
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    Accounts accounts(machine_of(hosts[seed % 4]));
    CommandsModel model(accounts.common());
    const auto all = accounts.common();
    Time now{};
    for (int step = 0; step < 60; ++step) model.carry_out(accounts.decide(random_fact(random, now += 1ms)));
    while (!accounts.all().empty()) model.carry_out(accounts.decide(Released{now, accounts.all().front()->id}));
    INFO("seed " << seed);
    REQUIRE(model.faults == std::vector<std::string>{});
    REQUIRE(accounts.common() == all);
    REQUIRE(model.common == all);
    REQUIRE(model.sets.empty());
    REQUIRE(model.members.empty());
  }
}
