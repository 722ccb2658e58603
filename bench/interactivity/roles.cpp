#include "bench/interactivity/roles.h"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <latch>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>

#include "bench/interactivity/computation.h"
#include "bench/interactivity/reservation.h"
#include "bench/latency/load.h"
#include "bench/support/machine.h"
#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"

namespace interactivity {

using namespace corelane;

namespace {

std::vector<std::string> role_command(const std::string& role, const std::vector<std::string>& words) {
  std::vector<std::string> command{os::program_beside("corelane-bench-interactivity"), "--role", role};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

std::vector<std::string> words_of(const Typing& typing) {
  return {std::to_string(static_cast<int>(typing.route.way)),
          typing.route.directory,
          std::to_string(typing.route.fifo),
          std::to_string(typing.warm_up),
          std::to_string(typing.events),
          std::to_string(typing.gap),
          std::to_string(typing.seed),
          std::to_string(typing.bound)};
}

Typing typing_of(const std::vector<std::string>& words) {
  return {.route = {static_cast<Way>(std::stoi(words.at(0))), words.at(1), words.at(2) == "1"},
          .warm_up = std::stoul(words.at(3)),
          .events = std::stoul(words.at(4)),
          .gap = std::stol(words.at(5)),
          .seed = std::stoul(words.at(6)),
          .bound = words.at(7) == "1"};
}

void say_ready(const std::string& address) { latency::announce(address); }

// Blocks until a line comes, or the driver has ended.
void wait_for_go() {
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) > 0 && byte != '\n';) {
  }
}

int edit(const Typing& typing) {
  Notebook notebook(typing.warm_up, typing.events);
  (is_plain(typing.route.way) ? edit_plainly : edit_by_orb)(typing.route, notebook, say_ready);
  return latency::report(notebook.all()) ? 0 : 1;
}

// Sends each key when it is due. A late service sends the delayed keys one after the other.
void type(const Typing& typing, const Sender& send) {
  std::mt19937_64 random(typing.seed);
  std::uniform_real_distribution<double> share(0.2, 1.8);
  Time due = os::now();
  for (std::size_t i = 0; i < typing.warm_up + typing.events; ++i) {
    due += Duration{static_cast<std::int64_t>(share(random) * static_cast<double>(typing.gap))};
    os::sleep_until(due);
    send({stamp(due), stamp(os::now()), static_cast<std::uint32_t>(i)});
  }
}

int serve(const Typing& typing, const std::string& editor) {
  const Sender send = (is_plain(typing.route.way) ? send_plainly : send_by_orb)(typing.route, editor);
  say_ready("");
  wait_for_go();
  type(typing, send);
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) > 0;) {  // until the pair ends: the editor may still be reading
  }
  return 0;
}

void become_fifo() {
  const sched_param parameter{.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &parameter) != 0) throw std::runtime_error("SCHED_FIFO is not allowed here");
}

std::string address_from(os::ChildProcess& end, const std::string& name) {
  const std::string line = end.read_line().value_or("FAILED it ended");
  if (!line.starts_with("READY ")) throw std::runtime_error(name + ": " + line);
  return line.substr(6);
}

// How long the pair may take. Beside many busy threads an event may take seconds.
Duration longest(const Typing& typing) {
  return std::chrono::minutes{5} + 2 * Duration{typing.gap} * static_cast<std::int64_t>(typing.warm_up + typing.events);
}

int run_pair(const Typing& typing) {
  const auto cores = bench_support::usable_cores();
  if (typing.route.fifo) become_fifo();
  std::vector<std::string> words = words_of(typing);
  os::ChildProcess editor(role_command("editor", words), {.core = typing.bound ? cores.front() : no_core});
  words.push_back(address_from(editor, "the editor"));
  os::ChildProcess service(role_command("service", words), {.core = typing.bound ? cores.back() : no_core});
  (void)address_from(service, "the service");
  say_ready("");
  wait_for_go();
  service.write_line("GO");
  const std::string noted = editor.read_all(os::now() + longest(typing)).value_or("FAILED: events were lost");
  return write(STDOUT_FILENO, noted.data(), noted.size()) == static_cast<ssize_t>(noted.size()) ? 0 : 1;
}

int run_computation(unsigned laps) {
  say_ready("");
  wait_for_go();
  const Time start = os::now();
  const Duration used = os::thread_cpu_time();
  const std::uint64_t sum = compute(laps);
  const auto taken = (os::now() - start).count(), worked = (os::thread_cpu_time() - used).count();
  const std::uint64_t result[] = {static_cast<std::uint64_t>(taken), static_cast<std::uint64_t>(worked), sum};
  return latency::report(result) ? 0 : 1;
}

int hog(unsigned count) {
  std::latch running(count);
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([&] {
      running.count_down();
      for (volatile std::uint64_t turns = 0;;) turns = turns + 1;  // bound: the process is killed
    });
  running.wait();
  say_ready("");
  threads.front().join();
  return 0;
}

int play_unchecked(const std::string& role, const std::vector<std::string>& words) {
  if (role == "editor") return edit(typing_of(words));
  if (role == "service") return serve(typing_of(words), words.at(8));
  if (role == "pair") return run_pair(typing_of(words));
  if (role == "compute") return run_computation(static_cast<unsigned>(std::stoul(words.at(0))));
  if (role == "hogs") return hog(static_cast<unsigned>(std::stoul(words.at(0))));
  if (role == "reserve")
    become_reserved(static_cast<unsigned>(std::stoul(words.at(0))), words.at(1), {words.begin() + 2, words.end()});
  throw std::runtime_error("there is no role " + role);
}

}  // namespace

std::vector<std::string> command_of(const Typing& typing) { return role_command("pair", words_of(typing)); }
std::vector<std::string> computing_command(unsigned laps) { return role_command("compute", {std::to_string(laps)}); }
std::vector<std::string> hogs_command(unsigned threads) { return role_command("hogs", {std::to_string(threads)}); }

std::vector<std::string> reserved_command(unsigned cores, const std::string& directory,
                                          const std::vector<std::string>& command) {
  std::vector<std::string> words{std::to_string(cores), directory};
  words.insert(words.end(), command.begin(), command.end());
  return role_command("reserve", words);
}

int play(const std::string& role, const std::vector<std::string>& words) try {
  return play_unchecked(role, words);
} catch (const std::exception& fault) {
  std::printf("FAILED %s: %s\n", role.c_str(), fault.what());
  return 1;
}

}  // namespace interactivity
