// A call of an object in the same process, through its reference and the object adapter, on the caller's thread.
//   collocated_call            long long ping(long long) through stub, adapter and skeleton
//   collocated_call/threads    the same object called by several threads: the cost of its shared counters
//   virtual_call               the servant's function itself, for comparison
#include <benchmark/benchmark.h>

#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "pingS.h"

namespace {

class EchoServant : public virtual CORBA::servant_traits<Bench::Echo>::base_type {
 public:
  std::int64_t ping(std::int64_t value) override { return value; }
};

struct Fixture {
  Fixture() {
    const char* words[] = {"bench", "-ORBPoolRealTime", "off", "-ORBRuntimeLedger", "off"};
    std::vector<char*> argv;
    for (const char* word : words) argv.push_back(const_cast<char*>(word));
    auto argc = static_cast<int>(argv.size());
    orb = CORBA::ORB_init(argc, argv.data());
    auto poa = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
    servant = CORBA::make_reference<EchoServant>();
    ping = servant->_this();
  }
  ~Fixture() { orb->destroy(); }

  CORBA::object_reference<CORBA::ORB> orb;
  CORBA::servant_reference<EchoServant> servant;
  IDL::traits<Bench::Echo>::ref_type ping;
};

Fixture& fixture() {
  static Fixture fixture;
  return fixture;
}

void collocated_call(benchmark::State& state) {
  const auto ping = fixture().ping;
  std::int64_t value = 0;
  for (auto _ : state) benchmark::DoNotOptimize(value = ping->ping(value + 1));
}
BENCHMARK(collocated_call);
BENCHMARK(collocated_call)->Threads(2)->UseRealTime();

void virtual_call(benchmark::State& state) {
  EchoServant* servant = fixture().servant.get();
  benchmark::DoNotOptimize(servant);
  std::int64_t value = 0;
  for (auto _ : state) benchmark::DoNotOptimize(value = servant->ping(value + 1));
}
BENCHMARK(virtual_call);

}  // namespace
