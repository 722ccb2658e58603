// corelane-reserved as a program that a test runs, its notifications to systemd, and a client. Threads: one.
#pragma once

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orb/corba/init_orb.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/process/child_process.h"
#include "reservationC.h"
#include "tests/support/peers/stop_process.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::testing {

// Receives the notifications that systemd would receive.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const timeval patience{.tv_sec = 100, .tv_usec = 0};  // enough for any machine
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  // Returns the next message; "" if none comes.
  std::string next() const {
    char text[4096];
    const ssize_t count = recv(fd_.get(), text, sizeof text, 0);
    return count < 0 ? "" : std::string(text, static_cast<std::size_t>(count));
  }

 private:
  const os::Fd fd_;
};

// Call it before the namespace is made: inside, /proc may show paths from outside of a changed root.
inline const std::string& daemon_program() {
  static const std::string path = os::program_beside("corelane-reserved");
  return path;
}

// The daemon, with these options and a runtime directory of its own.
class RunningDaemon {
 public:
  // `shell`: a command that the shell runs before it becomes the program, such as "ulimit -n 100".
  explicit RunningDaemon(std::vector<std::string> options, std::string shell = "true")
      : options_(std::move(options)),
        shell_(std::move(shell)),
        directory_(std::make_unique<TempDirectory>()),
        notify_(*directory_ / "notify") {
    chmod(directory_->path().c_str(), 0755);
    start();
  }
  void start() {
    std::vector<std::string> words{"sh",
                                   "-c",
                                   shell_ + " && exec \"$@\"",
                                   "sh",
                                   daemon_program(),
                                   "-ORBRuntimeDirectory",
                                   directory_->path(),
                                   "-ORBLogLevel",
                                   "off"};
    words.insert(words.end(), options_.begin(), options_.end());
    program_.emplace(words);
    for (std::string heard = notify_.next(); !heard.starts_with("READY=1"); heard = notify_.next())
      if (heard.empty()) throw std::runtime_error("it did not get ready");
  }
  void kill_now() {
    kill(program_->pid(), SIGKILL);
    program_->wait();
  }
  // Ends the daemon and returns its exit status.
  std::string end(int signal = SIGTERM) {
    kill(program_->pid(), signal);
    const auto status = program_->wait();
    return status ? status->text() : "none";
  }
  // The same, with the signal sent again and again until the daemon has ended.
  std::string end_impatiently() {
    auto status = std::optional<os::ExitStatus>();
    while (!status) {  // bound: the daemon's end
      kill(program_->pid(), SIGTERM);
      status = program_->wait(os::now());
    }
    return status->text();
  }
  void pause() const {
    if (!stop_process(program_->pid())) throw std::runtime_error("it does not stop");
  }
  void go_on() const { kill(program_->pid(), SIGCONT); }
  std::string socket() const { return *directory_ / "reserved.sock"; }
  const std::string& directory() const { return directory_->path(); }
  std::string reference() const { return "file://" + *directory_ / "reserved.ior"; }
  std::string heard() const { return notify_.next(); }

 private:
  const std::vector<std::string> options_;
  const std::string shell_;
  std::unique_ptr<TempDirectory> directory_;
  NotifySocket notify_;
  std::optional<os::ChildProcess> program_;
};

// A client of the daemon. Make it after all forks.
class ReservationClient {
 public:
  explicit ReservationClient(const RunningDaemon& daemon)
      : orb_(corba::init_orb({"-ORBPoolRealTime", "off", "-ORBRuntimeLedger", "off", "-ORBLogLevel", "off"})),
        server(IDL::traits<Corelane::Reservation::Server>::narrow(orb_->string_to_object(daemon.reference()))) {}
  ~ReservationClient() { orb_->destroy(); }

  Corelane::Reservation::Grant reserve(int pid, std::uint16_t count, bool queues = false) {
    Corelane::Reservation::CoresWanted wanted;
    wanted.count(count);
    return server->reserve_cores(holder_of(pid), wanted, Corelane::Reservation::Terms(0, queues, "test"));
  }
  static Corelane::Reservation::Holder holder_of(int pid) {
    return Corelane::Reservation::Holder(Corelane::Reservation::Process(pid, 0),
                                         Corelane::Reservation::Scope::process_tree, 0);
  }
  // Returns the text of the refusal; "" if the call succeeds.
  template <typename Call>
  std::string refusal_of(Call&& call) {
    try {
      call();
    } catch (const Corelane::Reservation::Refused& refused) {
      return refused.reason();
    }
    return {};
  }
  // Asks until there are so many accounts: the daemon notices a killed process after a while.
  bool accounts_become(std::size_t count) {
    const Time patience = os::now() + std::chrono::minutes{1};
    while (server->accounts().size() != count)
      if (os::now() > patience) return false;
    return true;
  }

 private:
  CORBA::object_reference<CORBA::ORB> orb_;

 public:
  CORBA::object_reference<Corelane::Reservation::Server> server;
};

}  // namespace corelane::testing
