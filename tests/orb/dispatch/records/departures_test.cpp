#include "orb/dispatch/records/departures.h"

#include <catch2/catch.hpp>

#include "orb/dispatch/queue/node_list.h"

using namespace corelane;
using namespace corelane::dispatch;

TEST_CASE("a task that is asked to leave is told of once however often it is asked") {
  Departures door(4);
  door.know(TaskId{1}, PeerId{7});
  CHECK(door.ask(TaskId{1}, {}));
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(door.ask(TaskId{1}, PeerId{7}));
  CHECK(door.next() == TaskId{1});
  CHECK(door.next() == no_task);
  CHECK_FALSE(door.ask(TaskId{1}, {}));
}

TEST_CASE("only the owner and this process may ask a task to leave") {
  Departures door(4);
  door.know(TaskId{1}, PeerId{7});
  CHECK_FALSE(door.ask(TaskId{1}, PeerId{8}));
  CHECK_FALSE(door.ask(TaskId{2}, PeerId{7}));
  CHECK_FALSE(door.ask(no_task, {}));
  CHECK(door.next() == no_task);
  CHECK(door.ask(TaskId{1}, PeerId{7}));
}

TEST_CASE("places of tasks that left are used again") {
  Departures door(2);
  for (std::uint64_t id = 1; id <= 100; ++id) {
    door.know(TaskId{id}, {});
    door.know(TaskId{1000 + id}, {});
    REQUIRE(door.ask(TaskId{id}, {}));
    door.forget(TaskId{id});  // it departed by itself
    REQUIRE(door.next() == no_task);
    REQUIRE(door.ask(TaskId{1000 + id}, {}));
    REQUIRE(door.next() == TaskId{1000 + id});
  }
}

TEST_CASE("a list gives its nodes back in order and may be long when it ends") {
  struct Node {
    int value = 0;
    std::unique_ptr<Node> next;
  };
  NodeList<Node> list;
  CHECK(list.pop_front() == nullptr);
  const auto add = [&](int value) {
    auto node = std::make_unique<Node>();
    node->value = value;
    list.push_back(std::move(node));
  };
  for (int i = 0; i < 3; ++i) add(i);
  for (int i = 0; i < 3; ++i) CHECK(list.pop_front()->value == i);
  CHECK(list.empty());
  for (int i = 0; i < 1'000'000; ++i) add(i);
  CHECK(list.pop_front()->value == 0);
}
