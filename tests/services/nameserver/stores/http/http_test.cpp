// How the store reaches an etcd: host addresses, several endpoints, TLS.
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <condition_variable>
#include <string>
#include <thread>
#include <utility>

#include "services/nameserver/stores/etcd/etcd_client.h"
#include "services/nameserver/stores/etcd/etcd_follower.h"
#include "services/nameserver/stores/http/host_lookup.h"
#include "services/nameserver/stores/http/http_connection.h"
#include "services/nameserver/stores/http/tls.h"
#include "tests/services/nameserver/stores/etcd/etcd_server.h"
#include "tests/services/nameserver/stores/http/certificates.h"
#include "tests/support/quiet.h"
#include "tests/support/system/localhost.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;
using namespace std::chrono_literals;

namespace {

const HttpEndpoint plant{"plant.example", "2379"};

// A resolver that answers when the test tells it to. Shared with the threads that call it.
class SlowResolver {
 public:
  corelane::Expected<HostAddresses, std::string> answer() {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !is_silent_; });
    return answer_;
  }
  void say(corelane::Expected<HostAddresses, std::string> answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
    is_silent_ = false;
    changed_.notify_all();
  }
  void be_silent() {
    const std::lock_guard lock(mutex_);
    is_silent_ = true;
  }
  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  void wait_until_asked(int times) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ >= times; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  corelane::Expected<HostAddresses, std::string> answer_ = std::string("nobody has asked yet");
  bool is_silent_ = true;
  int asked_ = 0;
};

// A server that answers each HTTP request with the same response.
class FixedServer {
 public:
  FixedServer(const std::string& status, const std::string& body)
      : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(listen(socket_.get(), 10) == 0);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = std::to_string(ntohs(address.sin_port));
    const std::string reply = "HTTP/1.1 " + status +
                              "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                              body;
    answering_ = std::thread([this, reply] {
      while (true) {
        const corelane::os::Fd called(accept(socket_.get(), nullptr, nullptr));
        if (!called) return;
        char asked[4096];
        if (recv(called.get(), asked, sizeof asked, 0) > 0)
          (void)send(called.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
        shutdown(called.get(), SHUT_WR);
        while (recv(called.get(), asked, sizeof asked, 0) > 0) continue;
      }
    });
  }
  ~FixedServer() {
    shutdown(socket_.get(), SHUT_RDWR);
    answering_.join();
  }
  HttpEndpoint endpoint() const { return {"127.0.0.1", port_}; }

 private:
  const corelane::os::Fd socket_;
  std::string port_;
  std::thread answering_;
};

struct LookupFixture {
  std::shared_ptr<SlowResolver> resolver = std::make_shared<SlowResolver>();
  HostLookup lookup{[resolver = resolver](const HttpEndpoint&) { return resolver->answer(); }};
  const corelane::os::Fd never_stopped{eventfd(0, EFD_CLOEXEC)};

  corelane::Expected<HostAddresses, std::string> find(corelane::Time deadline = corelane::never) {
    return lookup.find(plant, deadline, never_stopped.get());
  }
};

// Returns why a store cannot be opened there with those files.
std::string refusal_of(const TlsFiles& files, const std::string& url) {
  StoreOptions options = patient();
  options.etcd_tls = files;
  options.etcd_patience = 0s;
  const auto opened = open_store(url, options);
  return opened ? "opened" : opened.error();
}

}  // namespace

TEST_CASE("a resolver that does not answer delays no other request and is asked once at a time") {
  LookupFixture its;
  for (int i = 0; i < 3; ++i)
    CHECK(its.find(corelane::os::now()).error() == "its address is not known: the resolver of names does not answer");
  its.resolver->wait_until_asked(1);
  CHECK(its.resolver->asked() == 1);
  its.resolver->say(HostAddresses(2));
  CHECK(its.find()->size() == 2);
  CHECK(its.resolver->asked() == 1);
}

TEST_CASE("a thread that waits for the resolver ends when it is told to") {
  LookupFixture its;
  eventfd_write(its.never_stopped.get(), 1);
  CHECK_FALSE(its.find());
  its.resolver->say(HostAddresses{});
}

TEST_CASE("addresses are remembered and kept when the resolver has none any more") {
  LookupFixture its;
  its.resolver->say(HostAddresses(3));
  CHECK(its.find()->size() == 3);
  CHECK(its.find()->size() == 3);
  CHECK(its.resolver->asked() == 1);
  its.lookup.distrust(plant);
  its.resolver->say(std::string("no such host"));
  CHECK(its.find()->size() == 3);
  CHECK(its.resolver->asked() == 2);
  its.resolver->be_silent();
  CHECK(its.find(corelane::os::now())->size() == 3);
  its.resolver->say(HostAddresses(1));
  CHECK(its.find()->size() == 1);
}

TEST_CASE("the exception of a resolver is the reason why an address is not known") {
  HostLookup lookup([](const HttpEndpoint&) -> corelane::Expected<HostAddresses, std::string> {
    throw std::runtime_error("no memory for the answer");
  });
  const corelane::os::Fd never_stopped{eventfd(0, EFD_CLOEXEC)};
  CHECK(lookup.find(plant, corelane::never, never_stopped.get()).error() ==
        "its address is not known: no memory for the answer");
}

TEST_CASE("an address needs no resolver") {
  LookupFixture its;
  CHECK(its.lookup.find({"127.0.0.1", "80"}, corelane::os::now(), its.never_stopped.get())->size() == 1);
  CHECK(its.lookup.find({"::1", "80"}, corelane::os::now(), its.never_stopped.get())->size() == 1);
  CHECK(its.resolver->asked() == 0);
  its.resolver->say(HostAddresses{});
}

TEST_CASE("a follower ends while etcd takes its calls and never answers") {
  const corelane::os::Fd etcd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(bind(etcd.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(listen(etcd.get(), 10) == 0);
  getsockname(etcd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  EtcdClient client({.endpoints = {{"127.0.0.1", std::to_string(ntohs(address.sin_port))}}, .timeout = 24h});
  const EtcdKeys keys("/here/");
  EtcdCache cache(keys, {});
  EtcdOwnedNames owned(client, 600s);
  ChangeNotifier notifier;
  std::optional<EtcdFollower> follower(std::in_place, client, keys, cache, nullptr, owned, notifier,
                                       EtcdPace{.period = 24h, .page = 1});
  const corelane::os::Fd called(accept(etcd.get(), nullptr, nullptr));
  char first = 0;
  REQUIRE(recv(called.get(), &first, 1, 0) == 1);
  follower.reset();
  CHECK_FALSE(client.range("a", "b", 1));
}

TEST_CASE("a server that is no etcd is told from an etcd that refuses, and gets no password") {
  const std::pair<std::string, std::string> answers[] = {{"301 Moved Permanently", "<html>"},
                                                         {"404 Not Found", "{}"},
                                                         {"502 Bad Gateway", ""},
                                                         {"200 OK", "{}"},
                                                         {"200 OK", std::string(200'000, '[')}};
  for (const auto& [status, body] : answers) {
    const FixedServer server(status, body);
    EtcdClient client({.endpoints = {server.endpoint()}, .timeout = 200s});
    const auto answer = client.range("a", "b", 1);
    REQUIRE_FALSE(answer);
    CAPTURE(status, answer.error().text);
    CHECK(answer.error().kind == EtcdFault::Kind::unreachable);
    CHECK(answer.error().text.find("the program that answers is no etcd, or not its HTTP gateway") == 0);
  }
}

TEST_CASE("only a missing or wrong login is reported as a login fault, and no refusal with similar words is") {
  const std::pair<std::string, bool> refusals[] = {
      {R"({"error":"etcdserver: user name is empty","code":3})", true},
      {R"({"error":"etcdserver: authentication failed, invalid user ID or password","code":3})", true},
      {R"({"error":"etcdserver: authentication is not enabled","code":9})", true},
      {R"({"error":"etcdserver: permission denied","code":7})", true},
      {R"({"error":"etcdserver: invalid auth token","code":16})", true},
      {R"({"error":"transport: authentication handshake failed: x509: unknown authority","code":14})", false},
      {R"({"error":"the author of this proxy allows no POST","code":12})", false}};
  for (const auto& [body, is_login] : refusals) {
    const FixedServer server("400 Bad Request", body);
    EtcdClient client({.endpoints = {server.endpoint()}, .timeout = 200s});
    const auto answer = client.range("a", "b", 1);
    REQUIRE_FALSE(answer);
    CAPTURE(answer.error().text);
    const bool says_so = answer.error().text.ends_with(": see which user and password this nameserver was given");
    CHECK(says_so == is_login);
  }
}

TEST_CASE("an etcd whose entries are not in the order of their keys is none, so that reading all of them ends") {
  // The server returns the same page again and again: reading on after its last key would never end.
  const FixedServer server("200 OK", R"({"header":{"revision":"7"},"kvs":[{"key":"YQ=="}],"more":true})");
  EtcdClient client({.endpoints = {server.endpoint()}, .timeout = 200s});
  CHECK(client.range("a", "c", 1));
  CHECK_FALSE(client.range(std::string("a") + '\0', "c", 1));
  CHECK_FALSE(client.range("A", "a", 1));
}

TEST_CASE("TLS is not spoken with a host whose name cannot be checked") {
  const auto context = TlsContext::make({}).value();
  for (const std::string& host : {std::string(), std::string(300, 'a')}) {
    TlsSession session(*context, -1, host);
    const Progress shaken = session.shake_hands();
    CHECK(shaken.state == Progress::State::failed);
    CHECK_THAT(shaken.fault, Catch::StartsWith("TLS cannot be prepared for " + host));
  }
}

TEST_CASE("where one member of a cluster is not there the next one is asked") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  EtcdServer server;
  const auto store = etcd_store("etcd:http://127.0.0.1:1,localhost:1,127.0.0.1:" + server.endpoint().port);
  REQUIRE(store->add(root_context, {"a", ""}, object_at("1")));
  CHECK_FALSE(store->status().stale);
  server.kill();
  until([&] { return store->status().stale; });
  server.start();
  until([&] { return store->add(root_context, {"b", ""}, object_at("1")).has_value(); });
}

TEST_CASE("an etcd at https serves clients that show a certificate and know its authority") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  const corelane::testing::TempDirectory directory;
  const Certificates certificates(directory.path());
  const auto network = std::make_shared<HttpNetwork>();
  network->tls = TlsContext::make(certificates.of_client()).value();
  EtcdServer server(certificates.of_server(), network);
  StoreOptions options = patient();
  options.etcd_tls = certificates.of_client();
  const auto store = etcd_store(server.url(), options);
  REQUIRE(store->add(root_context, {"a", ""}, object_at("1", "anna")));
  CHECK(reference_at(*store, root_context, {"a", ""}) == "1");
  CHECK(store->status().place.starts_with("https://127.0.0.1:"));

  CHECK_THAT(refusal_of({}, server.url()), Catch::Contains("its certificate does not show that it is 127.0.0.1"));
  const TlsFiles nobody{.authorities = certificates.of_client().authorities};
  CHECK_THAT(refusal_of(nobody, server.url()), Catch::Contains("TLS"));

  HttpConnection connection(server.endpoint(), network);
  CHECK_FALSE(connection.is_idle());
  REQUIRE(connection.post({.path = "/v3/kv/range", .body = R"({"key":"eA=="})"}));
  CHECK(connection.is_idle());
  server.kill();
  until([&] { return !connection.is_idle(); });
}

TEST_CASE("an etcd at https whose certificate is for another name is refused") {
  if (lacks_etcd()) return;
  if (!corelane::testing::localhost_has_an_address()) {
    WARN("SKIPPED: nothing here, such as /etc/hosts, gives localhost an address");
    return;
  }
  const corelane::testing::Quiet quiet;
  const corelane::testing::TempDirectory directory;
  const Certificates certificates(directory.path());
  const auto network = std::make_shared<HttpNetwork>();
  network->tls = TlsContext::make(certificates.of_client()).value();
  const EtcdServer server(certificates.of_server(), network);
  const std::string other_name = "etcd:https://localhost:" + server.endpoint().port;
  CHECK_THAT(refusal_of(certificates.of_client(), other_name), Catch::Contains("does not show that it is localhost"));
}

TEST_CASE("files of TLS that cannot be used are named") {
  const corelane::testing::TempDirectory directory;
  const Certificates certificates(directory.path());
  const TlsFiles good = certificates.of_client();
  const std::string missing = directory / "missing.pem";
  const std::pair<TlsFiles, std::string> wrong[] = {
      {{.authorities = missing}, "the file of authorities " + missing + " cannot be used: "},
      {{.authorities = good.key}, "the file of authorities " + good.key + " cannot be used: "},
      {{.certificate = missing}, "the certificate " + missing + " cannot be used: "},
      {{.certificate = good.certificate}, "the key " + good.certificate + " cannot be used: "},
      {{.certificate = good.certificate, .key = certificates.of_server().key}, "cannot be used: "}};
  for (const auto& [files, text] : wrong) {
    const auto opened = open_store("etcd:https://127.0.0.1:1", {.etcd_tls = files, .etcd_patience = 0s});
    REQUIRE_FALSE(opened);
    INFO(opened.error());
    CHECK(opened.error().find(text) != std::string::npos);
  }
}
