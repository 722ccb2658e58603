// The server of the bare ring. --address is the path of the region, which it makes; --kind spin or futex.
#include "bench/peers/bare/frames.h"
#include "bench/peers/bare/ring.h"
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"

int main(int argc, char** argv) try {
  using namespace peers::bare;
  peers::end_with_parent();
  const auto options = peers::server_options(argc, argv);
  const Waiting waiting = waiting_of(options.kind);
  RingPair& rings = create_rings(options.address);
  peers::announce(options.address);
  RingConsumer requests(rings.requests, waiting);
  RingProducer replies(rings.replies, waiting);
  for (EchoService service;;)
    if (const auto answer = service.serve(received(requests.receive())))
      replies.send({answer->head.bytes, answer->head.size}, answer->octets);
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
