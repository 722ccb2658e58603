// corelane-bench-octets measures how long a sequence<octet> of 1 MiB takes in a call, in each direction.
//
//   corelane-bench-octets [ROUNDS [CALLS [SIZE]]]     5 rounds of 200 calls of 1 MiB; also --rounds, --calls, --size
//
// Client and server are separate processes on the last two cores. Rounds are interleaved.
//
//   memcpy             one core copies the same number of bytes: the limit of every transport that copies
//   bare Unix socket   the same number of bytes, and an answer of one byte
//   Corelane, ...      `put` carries the octets to the server, `get` from it, over a channel, a Unix socket or TCP. The
//                      client blocks; with `spin` it spins before it sleeps.
//
// Columns: MB/s at p50 (put, get), their share of the rate of memcpy (median of the rounds), p50 and p99 of a call in
// us.
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/latency/load.h"
#include "bench/support/command_line.h"
#include "bench/support/machine.h"
#include "bench/support/summary.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"
#include "pingS.h"

namespace {

using bench_support::Row;
using bench_support::Samples;
using Words = std::vector<std::string>;

// ---- The two processes of a row

// Returns octets whose sum shows whether they arrived unchanged.
Bench::Octets octets_of(std::size_t size) {
  Bench::Octets data(size);
  std::iota(data.begin(), data.end(), std::uint8_t{0});
  return data;
}

void check_octets(const Bench::Octets& data, std::size_t size) {
  if (data.size() != size || data[size - 1] != static_cast<std::uint8_t>(size - 1))
    throw std::runtime_error("other octets");
}

class StoreServant : public virtual CORBA::servant_traits<Bench::Store>::base_type {
 public:
  void put(const Bench::Octets& data) override { check_octets(data, data.size()); }
  Bench::Octets get(std::uint32_t size) override {
    if (kept_.size() != size) kept_ = octets_of(size);
    return kept_;
  }

 private:
  Bench::Octets kept_;  // there is only one client, which makes one call at a time
};

int serve(int argc, char** argv) {
  auto orb = CORBA::ORB_init(argc, argv);
  auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  poa->the_POAManager()->activate();
  auto servant = CORBA::make_reference<StoreServant>();
  latency::announce(orb->object_to_string(servant->_this()));
  orb->run();
  return 0;
}

// Arguments: "put" or "get", IOR, warm-up, calls, interval, size.
int call(int argc, char** argv) {
  auto orb = CORBA::ORB_init(argc, argv);
  if (argc != 7) return latency::usage(argv[0], "--role put|get IOR WARM-UP CALLS INTERVAL SIZE [-ORB options]");
  const std::string way = argv[1];
  auto store = IDL::traits<Bench::Store>::narrow(orb->string_to_object(argv[2]));
  const auto size = static_cast<std::uint32_t>(latency::number_of("SIZE", argv[6], 1 << 30));
  const Bench::Octets data = octets_of(size);
  const auto samples = latency::measure(latency::load_of(argv + 1), [&](std::int64_t) {
    if (way == "put") return store->put(data);
    check_octets(store->get(size), size);
  });
  return latency::report(samples) ? 0 : 1;
}

// ---- The driver

struct Settings {
  std::size_t rounds = 5, calls = 200, size = 1 << 20, warm_up = 20;
  corelane::CoreId server = corelane::no_core, client = corelane::no_core;
};

constexpr std::chrono::minutes patience{2};

Samples run_corelane(const Settings& settings, const std::string& program, const std::string& way,
                     const Words& server_options, const Words& client_options) {
  Words serving{program, "--role", "server", "-ORBLogLevel", "error", "-ORBEndpointLocal", "off"};
  serving.insert(serving.end(), server_options.begin(), server_options.end());
  corelane::os::ChildProcess server(serving, {.core = settings.server});
  const std::string line = server.read_line(corelane::os::now() + patience).value_or("");
  if (!line.starts_with("READY ")) throw std::runtime_error("the server does not start");
  Words calling{program,
                "--role",
                way,
                line.substr(6),
                std::to_string(settings.warm_up),
                std::to_string(settings.calls),
                "0",
                std::to_string(settings.size)};
  calling.insert(calling.end(), client_options.begin(), client_options.end());
  corelane::os::ChildProcess client(calling, {.core = settings.client});
  const std::string bytes = client.read_all(corelane::os::now() + patience).value_or("");
  Samples samples(bytes.size() / sizeof(Samples::value_type));
  if (samples.size() != settings.calls) throw std::runtime_error("the client failed");
  std::memcpy(samples.data(), bytes.data(), bytes.size());
  return samples;
}

Samples run_memcpy(const Settings& settings) {
  std::vector<std::byte> from(settings.size, std::byte{1}), to(settings.size);
  return latency::measure({settings.warm_up, settings.calls, {}}, [&](std::int64_t) {
    std::memcpy(to.data(), from.data(), settings.size);
    asm volatile("" : : "r"(to.data()) : "memory");
  });
}

void bind_to(corelane::CoreId core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core.value), &set);
  sched_setaffinity(0, sizeof set, &set);
}

bool move_all(int socket, std::vector<std::byte>& bytes, bool out) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t moved =
        out ? write(socket, &bytes[at], bytes.size() - at) : read(socket, &bytes[at], bytes.size() - at);
    if (moved <= 0) return false;
    at += static_cast<std::size_t>(moved);
  }
  return true;
}

Samples run_socket(const Settings& settings) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no socket pair");
  std::vector<std::byte> data(settings.size), answer(1);
  const pid_t child = fork();
  if (child == 0) {
    bind_to(settings.server);
    while (move_all(ends[1], data, false) && move_all(ends[1], answer, true)) continue;
    _exit(0);
  }
  bind_to(settings.client);
  auto samples = latency::measure({settings.warm_up, settings.calls, {}}, [&](std::int64_t) {
    if (!move_all(ends[0], data, true) || !move_all(ends[0], answer, false))
      throw std::runtime_error("the socket broke");
  });
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]), close(ends[1]);
  return samples;
}

struct Contender {
  std::string name;
  std::function<Samples(const Settings&, const std::string& way)> run;
};

std::vector<Contender> contenders(const std::string& program) {
  const auto ours = [&](const std::string& name, const std::string& endpoint, const Words& client = {}) {
    return Contender{name, [=](const Settings& settings, const std::string& way) {
                       return run_corelane(settings, program, way, {"-ORBEndpointListen", endpoint}, client);
                     }};
  };
  return {{"memcpy", [](const Settings& settings, const std::string&) { return run_memcpy(settings); }},
          {"bare Unix socket", [](const Settings& settings, const std::string&) { return run_socket(settings); }},
          ours("Corelane, channel", "channel:"),
          ours("Corelane, channel, spin", "channel:", {"-ORBClientWait", "spin-then-park"}),
          ours("Corelane, Unix", "unix:"),
          ours("Corelane, TCP", "127.0.0.1:0")};
}

void print_way(const char* way, const Row& row, const Row& reference, std::size_t size) {
  if (!row.fault.empty()) return (void)std::printf("  %-26s %-4s %s\n", row.name.c_str(), way, row.fault.c_str());
  const Samples all = bench_support::pooled(row);
  const auto p50 = static_cast<double>(bench_support::percentile(all, .5));
  const auto p99 = static_cast<double>(bench_support::percentile(all, .99));
  std::printf("  %-26s %-4s %9.0f MB/s %6.2f of memcpy %9.1f us p50 %9.1f p99 %7zu\n", row.name.c_str(), way,
              static_cast<double>(size) * 1e3 / p50, 1 / bench_support::ratio(row, reference), p50 / 1e3, p99 / 1e3,
              all.size());
}

void drive(const std::string& program, Settings settings) {
  const auto cores = bench_support::usable_cores();
  const std::string facts = bench_support::machine_facts();
  if (cores.size() < 2) throw std::runtime_error("it needs two cores");
  settings.server = cores[cores.size() - 1], settings.client = cores[cores.size() - 2];
  std::printf("%s\n%zu B, %zu rounds of %zu calls\n", facts.c_str(), settings.size, settings.rounds, settings.calls);
  std::fflush(stdout);  // before a fork
  const auto all = contenders(program);
  for (const char* way : {"put", "get"}) {
    std::vector<Row> rows;
    for (const Contender& contender : all) rows.push_back({contender.name, {}, {}});
    for (std::size_t round = 0; round < settings.rounds; ++round)
      for (std::size_t i = 0; i < all.size(); ++i) try {
          if (rows[i].fault.empty()) rows[i].rounds.push_back(all[i].run(settings, way));
        } catch (const std::exception& fault) {
          rows[i].fault = fault.what();
        }
    for (const Row& row : rows) print_way(way, row, rows.front(), settings.size);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 2 && std::string(argv[1]) == "--role") {
    argv[1] = argv[0];
    return std::string(argv[2]) == "server" ? serve(argc - 1, argv + 1) : call(argc - 1, argv + 1);
  }
  Settings settings;
  CLI::App app{"Times a sequence<octet> in calls, one way and the other, beside memcpy and a bare Unix socket."};
  app.add_option("rounds,--rounds", settings.rounds, "number of rounds")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("calls,--calls", settings.calls, "calls of each row in a round")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("size,--size", settings.size, "octets in each call")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  if (const auto end = bench_support::parse(app, argc, argv)) return *end;
  drive(corelane::os::program_beside("corelane-bench-octets"), settings);
} catch (const std::exception& fault) {
  std::fprintf(stderr, "corelane-bench-octets: %s\n", fault.what());
  return 1;
}
