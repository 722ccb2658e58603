// The one door to Asio. Asio 1.74 uses std::exchange in C++20 without including <utility>, so that comes first.
// Only reactor.cpp includes this header: Asio is slow to compile and is no part of any interface.
#pragma once

#include <utility>
// clang-format off: the order above matters
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
// clang-format on
