// CutNetwork forwards connections to a server on this host through a thread. It can fall silent like a network with an
// unplugged cable, break connections, or lose one answer.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "orb/os/fd.h"

namespace corelane::nameserver::testing {

class CutNetwork {
 public:
  explicit CutNetwork(const std::string& server_port) : server_(local(std::stoi(server_port))) {
    sockaddr_in any = local(0);
    bind(listening_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any);
    listen(listening_.get(), 100);
  }
  CutNetwork(const CutNetwork&) = delete;
  CutNetwork& operator=(const CutNetwork&) = delete;
  ~CutNetwork() {
    is_over_ = true;
    wake();
  }

  std::string port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return std::to_string(ntohs(address.sin_port));
  }
  // Connections stay open, and new ones can be made, but nothing arrives.
  void fall_silent() { is_silent_ = true; }
  // Delivers what was held back.
  void mend() {
    is_silent_ = is_holding_ = false;
    wake();
  }
  // Ends all connections.
  void break_off() {
    is_breaking_ = true;
    wake();
  }
  // Holds back what the server sends to those that watch it until mend(), except what is being forwarded now. All other
  // requests are answered.
  void hold_watches() { is_holding_ = true; }
  // Returns how many transactions were requested so far.
  int transactions() const { return transactions_; }
  // The next request that contains this text reaches the server, but its answer does not arrive: the connection ends
  // instead. Call it before that request is sent, while no other request is under way.
  void lose_answer_to(const std::string& request) {
    {
      const std::lock_guard lock(mutex_);
      unanswered_ = request;
    }
    wake();
  }

 private:
  struct Way {
    os::Fd ends[2];
    bool is_unanswered = false;
    bool is_watch = false;
  };

  static sockaddr_in local(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  void wake() { eventfd_write(woken_.get(), 1); }

  void run() {
    while (!is_over_) {
      std::vector<pollfd> watched{{woken_.get(), POLLIN, 0}};
      if (!is_silent_) watched.push_back({listening_.get(), POLLIN, 0});
      if (!is_silent_)
        for (const Way& way : ways_)
          for (const os::Fd& end : way.ends)
            if (&end == &way.ends[0] || !is_held(way)) watched.push_back({end.get(), POLLIN, 0});
      poll(watched.data(), watched.size(), -1);
      eventfd_t ignored = 0;
      if (watched[0].revents != 0) eventfd_read(woken_.get(), &ignored);
      if (is_breaking_.exchange(false)) ways_.clear();
      if (is_silent_) continue;
      std::erase_if(ways_, [this](Way& way) { return !ask(way) || !answer(way); });
      take_in();
    }
  }
  void take_in() {
    os::Fd client(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) return;
    os::Fd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(server.get(), reinterpret_cast<const sockaddr*>(&server_), sizeof server_) == 0)
      ways_.push_back({{std::move(client), std::move(server)}});
  }
  // These return false when the connection ended.
  bool ask(Way& way) {
    std::string said;
    const bool goes_on = hear(way.ends[0], said);
    const std::lock_guard lock(mutex_);
    way.is_watch = way.is_watch || said.find("/v3/watch") != said.npos;
    if (said.find("/v3/kv/txn") != said.npos) ++transactions_;
    if (!unanswered_.empty() && said.find(unanswered_) != said.npos) {
      way.is_unanswered = true;
      unanswered_.clear();
    }
    return say(way.ends[1], said) && goes_on;
  }
  bool is_held(const Way& way) const { return way.is_watch && is_holding_; }
  bool answer(const Way& way) const {
    if (is_held(way)) return true;
    std::string said;
    const bool goes_on = hear(way.ends[1], said);
    if (way.is_unanswered) return said.empty() && goes_on;
    return say(way.ends[0], said) && goes_on;
  }
  static bool hear(const os::Fd& from, std::string& said) {
    std::array<char, 65'536> some;
    const ssize_t count = recv(from.get(), some.data(), some.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN;
    said.assign(some.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
  static bool say(const os::Fd& to, const std::string& said) {
    for (std::size_t sent = 0; sent < said.size();) {
      const ssize_t now = send(to.get(), said.data() + sent, said.size() - sent, MSG_NOSIGNAL);
      if (now < 0 && errno != EAGAIN) return false;
      sent += now < 0 ? 0 : static_cast<std::size_t>(now);
    }
    return true;
  }

  const sockaddr_in server_;
  const os::Fd listening_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const os::Fd woken_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> is_over_{false}, is_silent_{false}, is_breaking_{false}, is_holding_{false};
  std::atomic<int> transactions_{0};
  std::mutex mutex_;
  std::string unanswered_;  // guarded by mutex_; empty: every request is answered
  std::vector<Way> ways_;   // used by the thread only
  std::jthread thread_{[this] { run(); }};
};

}  // namespace corelane::nameserver::testing
