// Runs the conformance suite of byte streams over every transport.
#include <tuple>

#include "tests/orb/transport/kinds.h"

using ByteTransports = std::tuple<corelane::testing::TcpV4, corelane::testing::TcpV6, corelane::testing::UnixSocket,
                                  corelane::testing::SharedMemory, corelane::testing::SharedByUsers,
                                  corelane::testing::Vsock, corelane::testing::Apart<corelane::testing::TcpV4>,
                                  corelane::testing::Apart<corelane::testing::SharedMemory>>;
#include "tests/support/byte_transport_suite.h"
