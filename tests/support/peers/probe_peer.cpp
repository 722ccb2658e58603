// corelane-probe-peer is the other process of tests that kill it, or let it write garbage into what it shares.
//
//   corelane-probe-peer serve BOOK [--scribble SEED] [-ORBOption VALUE ...]
//       serves a Probe, prints its reference, and runs until it is killed; add(n, x) writes n into the book
//   corelane-probe-peer call REFERENCE CALLS [--task] [--scribble SEED] [-ORBOption VALUE ...]
//       calls a Probe CALLS times; exits with 0 if every answer was right or did not come
//
// --task: add() and echo() are called by tasks that have their own channels. Exits with 2 if they get none.
// --scribble: a thread writes garbage over all memory of its channels that this process can write.
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/bytes/scribble.h"
#include "tests/support/own_channels.h"
#include "tests/support/peers/book.h"
#include "tests/support/probe_servant.h"

namespace {

using namespace corelane;
using namespace corelane::testing;

class BookedServant : public ProbeServant {
 public:
  explicit BookedServant(const std::string& path) : book_(path) {}
  std::int32_t add(std::int32_t a, std::int32_t b) override {
    book_.begin(static_cast<std::uint64_t>(a));
    return a + b;
  }

 private:
  Book book_;
};

// Returns the memory of channels that this process may write now. It may be gone a moment later.
std::vector<MutableBytes> writable_channel_memory() {
  std::vector<MutableBytes> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char mode[5] = {};
    if (line.find("corelane-channel") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, mode) != 3 || mode[1] != 'w') continue;
    found.emplace_back(reinterpret_cast<std::byte*>(begin), end - begin);
  }
  return found;
}

// Writes by a system call, which reports memory that has been unmapped meanwhile. A store would end the process there.
void write_garbage(Random& random, MutableBytes memory) {
  Garbage garbage = garbage_for(random, memory.size());
  const iovec from{&garbage.word, sizeof garbage.word}, to{memory.data() + garbage.offset, sizeof garbage.word};
  if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) >= 0 || errno == EFAULT) return;
  std::perror("corelane-probe-peer: process_vm_writev");
  _exit(5);
}

// Runs until the process ends.
void scribble_for_ever(std::uint64_t seed) {
  Random random(seed);
  while (true) {
    const auto memory = writable_channel_memory();
    for (int i = 0; i < 200 && !memory.empty(); ++i) {
      write_garbage(random, memory[random() % memory.size()]);
      if (random() % 4 == 0) std::this_thread::yield();
    }
  }
}

struct Command {
  std::vector<std::string> words;
  std::vector<std::string> options;
  std::optional<std::uint64_t> seed;
  bool has_tasks = false;
};

Command command_of(int argc, char** argv) {
  Command command;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--scribble" && i + 1 < argc)
      command.seed = std::stoull(argv[++i]);
    else if (word == "--task")
      command.has_tasks = true;
    else if (word.starts_with("-ORB") && i + 1 < argc)
      command.options.insert(command.options.end(), {word, argv[++i]});
    else
      command.words.push_back(word);
  }
  if (command.words.size() < 2) throw std::runtime_error("usage: serve BOOK | call REFERENCE CALLS");
  return command;
}

int serve(const Command& command) {
  TestOrb orb(command.options);
  orb.root()->the_POAManager()->activate();
  const auto servant = CORBA::make_reference<BookedServant>(command.words[1]);
  std::cout << orb->object_to_string(orb.root()->servant_to_reference(servant)) << std::endl;
  orb->run();
  return 0;
}

// Makes all kinds of calls: short ones, long ones in several pieces, and some without an answer.
bool is_right(Probing::Probe& probe, std::int32_t number) {
  static const std::string large(100'000, 'x');
  if (number % 16 == 0) probe.note("x");
  if (number % 8 == 0) return probe.echo(large) == large;
  probe.ping();
  return probe.add(number, 1) == number + 1;
}

int call(const Command& command) {
  TestOrb client(command.options);
  const auto probe = probe_of(client, command.words[1]);
  const auto tasks = command.has_tasks ? tasks_with_own_channels(probe) : std::vector<rt::Task>{};
  const std::int32_t calls = std::stoi(command.words.at(2));
  int wrong = 0;
  for (std::int32_t i = 1; i <= calls; ++i) try {
      if (!is_right(*probe, i)) ++wrong;
    } catch (const CORBA::SystemException&) {
      if (!command.seed) return 3;
    }
  return wrong != 0 && !command.seed ? 4 : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const Command command = command_of(argc, argv);
  if (command.seed) std::thread(scribble_for_ever, *command.seed).detach();
  return command.words[0] == "serve" ? serve(command) : call(command);
} catch (const std::exception& fault) {
  std::cerr << "corelane-probe-peer: " << fault.what() << "\n";
  return 2;
}
