// EtcdServer runs an etcd in a directory of its own for a test. It can be killed and started again.
#pragma once

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"
#include "services/nameserver/stores/http/http_connection.h"
#include "services/nameserver/stores/open_store.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::nameserver::testing {

// Returns whether etcd is missing, and says so. A test that needs etcd begins with `if (lacks_etcd()) return;`.
inline bool lacks_etcd() {
  os::ChildProcess look({"sh", "-c", "command -v etcd >/dev/null"});
  const auto found = look.wait();
  if (found && found->ok()) return false;
  WARN("SKIPPED: etcd is not installed (Debian's etcd-server)");
  return true;
}

// Returns a TCP port that no process uses and that the system does not give to clients.
inline std::string free_port() {
  static std::minstd_rand random(std::random_device{}());
  while (true) {
    const auto port = static_cast<std::uint16_t>(std::uniform_int_distribution<int>(10'000, 32'000)(random));
    const os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return std::to_string(port);
  }
}

class EtcdServer {
 public:
  explicit EtcdServer(std::string more_options = {}) : more_options_(std::move(more_options)) { start(); }
  // Serves https, with a certificate, its key, and the authority for client certificates.
  explicit EtcdServer(const TlsFiles& files, std::shared_ptr<HttpNetwork> network)
      : is_tls_(true),
        more_options_(" --client-cert-auth --cert-file '" + files.certificate + "' --key-file '" + files.key +
                      "' --trusted-ca-file '" + files.authorities + "'"),
        network_(std::move(network)) {
    start();
  }

  // If another process took a port in between, etcd ends at once, and new ports are tried.
  void start() {
    const bool is_first = client_port_.empty();
    do {
      if (is_first) client_port_ = free_port(), peer_port_ = free_port();
      const std::string client = scheme() + "127.0.0.1:" + client_port_, peer = "http://127.0.0.1:" + peer_port_;
      process_.emplace(std::vector<std::string>{
          "sh", "-c",
          "exec etcd --data-dir '" + directory_.path() + "/data' --listen-client-urls " + client +
              " --advertise-client-urls " + client + " --listen-peer-urls " + peer + " --initial-advertise-peer-urls " +
              peer + " --initial-cluster default=" + peer + " --heartbeat-interval 50 --election-timeout 500" +
              more_options_ + " >'" + directory_.path() + "/log' 2>&1"});
    } while (!answers());
  }
  void kill() {
    ::kill(process_->pid(), SIGKILL);
    process_->wait();
    process_.reset();
  }

  HttpEndpoint endpoint() const { return {"127.0.0.1", client_port_}; }
  std::string url(const std::string& prefix = {}) const {
    return "etcd:" + scheme() + "127.0.0.1:" + client_port_ + prefix;
  }
  // Returns the gateway's answer.
  std::string post(const std::string& path, const std::string& json) const {
    HttpConnection connection(endpoint(), network_);
    const auto reply = connection.post(request(path, json));
    if (!reply) FAIL(reply.error().text);
    return reply->body;
  }

 private:
  bool answers() {
    while (!process_->wait(os::now())) {
      HttpConnection connection(endpoint(), network_);
      const auto reply = connection.post(request("/v3/kv/range", R"({"key":"eA=="})"));
      if (reply && reply->ok()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // sleep: etcd does not report when it is ready
    }
    return false;
  }

  std::string scheme() const { return is_tls_ ? "https://" : "http://"; }
  static HttpRequest request(const std::string& path, const std::string& json) {
    return {.path = path,
            .body = json,
            .connect_until = os::now() + std::chrono::seconds(60),
            .answer_until = os::now() + std::chrono::seconds(60)};
  }

  const bool is_tls_ = false;
  const std::string more_options_;
  const std::shared_ptr<HttpNetwork> network_ = std::make_shared<HttpNetwork>();
  corelane::testing::TempDirectory directory_;
  std::string client_port_, peer_port_;
  std::optional<os::ChildProcess> process_;
};

// Waits until the condition holds. If it never does, the test's timeout ends the test.
template <typename Condition>
void until(Condition&& holds) {
  while (!holds())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // sleep: another program works at its own pace
}

// Sets long timeouts, so that a machine that stalls for a while changes nothing.
inline StoreOptions patient(StoreOptions options = {.etcd_lease = std::chrono::seconds(600)}) {
  options.etcd_patience = options.etcd_timeout = std::chrono::seconds(200);
  return options;
}

inline std::unique_ptr<Store> etcd_store(const std::string& url, const StoreOptions& options = patient()) {
  auto opened = open_store(url, options);
  if (!opened) FAIL(opened.error());
  return std::move(*opened);
}

}  // namespace corelane::nameserver::testing
