// Tests what every transport of byte streams must do. A test file declares its kinds and includes this file once:
//   using ByteTransports = std::tuple<TcpV4, TcpV6>;   // see Kind in stream_harness.h
//   #include "tests/support/byte_transport_suite.h"
#pragma once

#include "tests/support/byte_transport/ending.h"
#include "tests/support/byte_transport/listening.h"
#include "tests/support/byte_transport/receiving.h"
#include "tests/support/byte_transport/sending.h"
#include "tests/support/byte_transport/watching.h"
