// Tests requests without a contract that wait for each other, in chains that do not know of each other. While such a
// request waits, it keeps a thread of the best-effort executor, and the executor replaces that thread.
#include <future>
#include <thread>

#include "orb/core/client/reference.h"
#include "orb/rt/resource.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"

namespace waiting_requests_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

using ProbeReference = CORBA::object_reference<Probing::Probe>;

// A servant whose add(n, ...) calls add(n - 1, ...) of the next object, and adds one.
class Asker final : public ProbeServant {
 public:
  std::int32_t add(std::int32_t depth, std::int32_t last) override {
    if (depth == 0) return last;
    if (through_a_thread) return add_on_a_thread(depth, last);
    return next->add(depth - 1, last) + 1;
  }

  ProbeReference next;
  bool through_a_thread = false;  // it calls on a thread of the application, which serves no requests

 private:
  std::int32_t add_on_a_thread(std::int32_t depth, std::int32_t last) {
    auto sum = std::async(std::launch::async, [&] { return next->add(depth - 1, last) + 1; });
    const rt::Suspension waits;
    return sum.get();
  }
};

struct Asked {
  explicit Asked(std::vector<std::string> options) : orb(std::move(options)) {
    orb.root()->the_POAManager()->activate();
    text = orb->object_to_string(orb.root()->servant_to_reference(servant));
  }
  ~Asked() { servant->next = nullptr; }

  TestOrb orb;
  CORBA::servant_reference<Asker> servant = CORBA::make_reference<Asker>();
  std::string text;
};

// An ORB without chains. When it is called, it calls back, nested `deep` times in all. It answers each call when it has
// the answer to its own.
class Foreigner {
 public:
  explicit Foreigner(Asked& us)
      : key_(us.orb->string_to_object(us.text)->_reference()->address()->object_key),
        asks_(wires_, us.orb->endpoints().front()) {
    listener_ = std::move(*wires_.tcp.listen({"127.0.0.1", 0}, [this](auto stream) { came_.set_value(stream); }));
  }
  std::string address() const {
    return "corbaloc::127.0.0.1:" + std::to_string(listener_->endpoint().port) + "/foreign";
  }
  void serve(int deep) {
    Wire asked(came_.get_future().get());
    cdr::Writer yes;
    begin_answer(yes, next_request(asked));  // the answer to whether the object has the type
    yes.write(true);
    asked.send(yes);
    answer(asked, deep);
  }

 private:
  static std::uint32_t next_request(Wire& wire) {
    const auto message = wire.next();
    return giop::parse_request(message.value(), {})->header.request_id;
  }
  static void begin_answer(cdr::Writer& writer, std::uint32_t id) {
    giop::begin_reply(writer, {.request_id = id, .contexts = {}}, {}, giop::giop_1_2);
  }
  void answer(Wire& asked, int deep) {
    const std::uint32_t id = next_request(asked);
    std::int32_t sum = 0;
    if (deep > 1) {
      cdr::Writer question;
      begin_request(question, static_cast<std::uint32_t>(deep), key_, "add");
      question.write(std::int32_t{1});
      question.write(std::int32_t{0});
      asks_.send(question);
      answer(asked, deep - 1);
      const auto message = asks_.next();
      giop::parse_reply(message.value(), {})->body.read(sum);
    }
    cdr::Writer reply;
    begin_answer(reply, id);
    reply.write(sum);
    asked.send(reply);
  }

  Wires wires_;
  const std::vector<std::byte> key_;
  Wire asks_;
  std::promise<std::shared_ptr<transport::Connection>> came_;
  std::unique_ptr<transport::Listener> listener_;
};

}  // namespace

TEST_CASE("requests that a foreign ORB makes of us while we wait for it find a thread, however many wait") {
  constexpr int deep = 20;
  Asked us({"-ORBBestEffortThreads", "1", "-ORBClientConnections", "1", "-ORBClientWait",
            GENERATE("park", "spin", "adaptive")});
  Foreigner foreigner(us);
  std::jthread serves([&] { foreigner.serve(deep); });
  us.servant->next = IDL::traits<Probing::Probe>::narrow(us.orb->string_to_object(foreigner.address()));
  TestOrb client;
  CHECK(probe_of(client, us.text)->add(1, 0) == deep);
}

TEST_CASE("requests that wait for the application's own threads take no thread from others when they say so") {
  constexpr int deep = 20;
  Asked us({"-ORBBestEffortThreads", "1"});
  TestOrb client;
  us.servant->next = probe_of(client, us.text);
  us.servant->through_a_thread = true;
  CHECK(probe_of(client, us.text)->add(deep, 0) == deep);
}

}  // namespace waiting_requests_test
