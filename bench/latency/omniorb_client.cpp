// The omniORB client of the latency benchmark: IOR WARM-UP CALLS INTERVAL.
#include <ping.hh>

#include "bench/latency/load.h"

int main(int argc, char** argv) {
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4");
  if (argc != 5) return latency::usage(argv[0], "IOR WARM-UP CALLS INTERVAL [-ORB options]");
  try {
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    Bench::Echo_var ping = Bench::Echo::_narrow(object);
    const auto samples =
        latency::measure(latency::load_of(argv), [&](std::int64_t value) { latency::check(value, ping->ping(value)); });
    return latency::report(samples) ? 0 : 1;
  } catch (const CORBA::Exception& fault) {
    std::fprintf(stderr, "omniORB: %s\n", fault._name());
    return 1;
  }
}
