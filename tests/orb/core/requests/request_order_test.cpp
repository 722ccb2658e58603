#include "orb/core/requests/request_order.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>

namespace request_order_test {
namespace {

using namespace corelane;
using core::RequestOrder;
using dispatch::JobPtr;
using Decision = RequestOrder::Decision;

class Request final : public dispatch::Job {
 public:
  void run(const dispatch::JobContext&) noexcept override {}
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override { returned = true; }
  bool returned = false;
};

// Requests of one connection. Tests name requests by numbers and objects by letters.
struct Connection {
  explicit Connection(RequestOrder::Limits limits = {}) : order(limits) {}

  static RequestOrder::Key key(char object, bool oneway) {
    static const char objects[128] = {};
    return {.object = &objects[static_cast<std::size_t>(object)], .oneway = oneway, .bytes = 10};
  }
  // Adds a request that runs on the reader's thread and is detached there.
  std::size_t detached(char object, bool oneway = false) {
    requests.emplace_back();
    JobPtr job(&requests.back());
    REQUIRE(order.enter(job, key(object, oneway)) == Decision::run);
    REQUIRE(order.detach(*job, key(object, oneway)));
    (void)job.release();
    return requests.size() - 1;
  }
  Decision enter(char object, bool oneway = false) {
    requests.emplace_back();
    JobPtr job(&requests.back());
    const Decision decision = order.enter(job, key(object, oneway));
    CHECK((job != nullptr) == (decision == Decision::run));
    (void)job.release();
    return decision;
  }
  // Ends a request. Returns the number of the request that runs next, or -1 if there is none.
  int end(std::size_t number) {
    last = order.ended(requests[number]);
    return number_of(last.job.release());
  }
  int number_of(const dispatch::Job* job) const {
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (&requests[i] == job) return static_cast<int>(i);
    return -1;
  }

  std::deque<Request> requests;  // declared first: jobs that wait in `order` go back to them
  RequestOrder order;
  RequestOrder::Next last;
};

}  // namespace

TEST_CASE("a request runs at once while nothing of its connection runs elsewhere") {
  Connection one;
  CHECK(one.enter('a') == Decision::run);
  CHECK(one.enter('a', true) == Decision::run);
  CHECK(one.order.idle());
}

TEST_CASE("a request waits for an earlier oneway to its object, and for that alone") {
  Connection one;
  const std::size_t oneway = one.detached('a', true);
  CHECK(one.enter('b') == Decision::run);
  CHECK(one.enter('a') == Decision::waits);  // request 2
  CHECK(one.enter('a') == Decision::waits);  // request 3
  CHECK(one.end(oneway) == 2);
  CHECK(one.last.more);
  CHECK(one.number_of(one.order.take().job.release()) == 3);
}

TEST_CASE("oneways to one object run one after the other, in their order, beside those to others") {
  Connection one;
  const std::size_t first = one.detached('a', true);
  CHECK(one.enter('a', true) == Decision::waits);  // request 1
  CHECK(one.enter('a', true) == Decision::waits);  // request 2
  CHECK(one.enter('b', true) == Decision::run);
  CHECK(one.end(first) == 1);
  CHECK_FALSE(one.last.more);
  CHECK(one.end(1) == 2);
  CHECK(one.end(2) == -1);
  CHECK(one.order.idle());
}

TEST_CASE("a call that runs delays no other call, not even at its own object") {
  Connection one;
  one.detached('a');
  CHECK(one.enter('a') == Decision::run);
  CHECK(one.enter('a', true) == Decision::run);
}

TEST_CASE("so many requests of a connection run beside its reader, and more wait") {
  Connection one({.parallel = 2});
  const std::size_t first = one.detached('a');
  one.detached('b');
  CHECK(one.enter('c') == Decision::waits);  // request 2
  CHECK(one.enter('d') == Decision::waits);  // request 3
  CHECK(one.end(first) == 2);
  CHECK_FALSE(one.last.more);
  CHECK(one.end(2) == 3);
}

TEST_CASE("a request that waits in a nested call makes room for another one") {
  Connection one({.parallel = 1});
  one.detached('a');
  CHECK(one.enter('b') == Decision::waits);
  CHECK(one.order.begin_wait());
  CHECK(one.number_of(one.order.take().job.release()) == 1);
  one.order.end_wait();
  CHECK(one.enter('c') == Decision::waits);
}

TEST_CASE("no request is begun while a reply waits for the peer, and the last such wait lets them go on in order") {
  Connection one({.parallel = 2});
  const std::size_t first = one.detached('a');
  one.order.hold();
  CHECK(one.enter('b') == Decision::waits);  // request 1
  one.order.hold();
  CHECK(one.end(first) == -1);
  CHECK_FALSE(one.order.idle());
  CHECK_FALSE(one.order.let_go());
  CHECK(one.order.let_go());
  CHECK(one.enter('b', true) == Decision::run);  // runs beside it
  CHECK(one.number_of(one.order.take().job.release()) == 1);
  CHECK(one.end(1) == -1);
  CHECK(one.order.idle());
}

TEST_CASE("a connection whose replies wait for the peer is not idle before what waited has run") {
  Connection one({.parallel = 2});
  const std::size_t first = one.detached('a', true);
  CHECK(one.enter('a') == Decision::waits);  // request 1
  one.order.hold();
  CHECK(one.end(first) == -1);
  CHECK(one.order.wait_until_idle());
  CHECK(one.order.let_go());
  CHECK(one.enter('a', true) == Decision::run);  // an earlier call does not delay a oneway
  CHECK(one.number_of(one.order.take().job.release()) == 1);
  CHECK(one.end(1) == -1);
  CHECK(one.last.may_read);
}

TEST_CASE("a connection is read no further when too many of its requests wait, until half of them have gone on") {
  Connection one({.parallel = 1, .waiting = 4});
  std::size_t runs = one.detached('a');
  for (int i = 0; i < 3; ++i) CHECK(one.enter('b') == Decision::waits);
  CHECK(one.enter('b') == Decision::full);
  int told = 0, ended = 0;
  for (int next = one.end(runs); next >= 0; next = one.end(runs)) {
    ++ended;
    runs = static_cast<std::size_t>(next);
    told += one.last.may_read;
    CHECK((told == 1) == (ended >= 2));
  }
  CHECK(ended == 4);
}

TEST_CASE("a connection is read no further when its waiting requests hold too many bytes") {
  Connection one({.parallel = 1, .bytes = 20});
  one.detached('a');
  CHECK(one.enter('b') == Decision::waits);
  CHECK(one.enter('b') == Decision::full);
}

TEST_CASE("a reader knows before the last request that may wait, or that holds too many bytes") {
  Connection one({.parallel = 1, .waiting = 3, .bytes = 100});
  one.detached('a');
  CHECK_FALSE(one.order.may_become_full(79));
  CHECK(one.enter('b') == Decision::waits);  // each holds 10 bytes
  CHECK_FALSE(one.order.may_become_full(89));
  CHECK(one.order.may_become_full(90));
  CHECK(one.enter('b') == Decision::waits);
  CHECK(one.order.may_become_full(0));
  CHECK(one.enter('b') == Decision::full);
}

TEST_CASE("a caller that waits until a connection is idle is told when nothing of it runs any more") {
  Connection one({.parallel = 1});
  CHECK_FALSE(one.order.wait_until_idle());
  const std::size_t runs = one.detached('a');
  CHECK(one.enter('b') == Decision::waits);
  CHECK(one.order.wait_until_idle());
  CHECK(one.end(runs) == 1);
  CHECK_FALSE(one.last.may_read);
  CHECK(one.end(1) == -1);
  CHECK(one.last.may_read);
}

TEST_CASE("requests that still wait when their connection goes are given back") {
  std::deque<Request> requests(2);
  {
    RequestOrder order({.parallel = 1});
    REQUIRE(order.detach(requests[0], {}));
    JobPtr job(&requests[1]);
    CHECK(order.enter(job, {}) == Decision::waits);
  }
  CHECK(requests[1].returned);
}

}  // namespace request_order_test
