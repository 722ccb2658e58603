// gRPC's echo server, synchronous, with its defaults. --address is 127.0.0.1:0 or unix:PATH.
#include <grpcpp/grpcpp.h>

#include <string>

#include "bench/peers/driver/caller.h"
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"
#include "echo.grpc.pb.h"

namespace {

using namespace peers_grpc;

peers::Octets octets_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class GrpcEcho : public EchoServer::Service {
 public:
  grpc::Status Ping(grpc::ServerContext*, const Number* request, Number* reply) override {
    reply->set_value(request->value() + 1);
    return grpc::Status::OK;
  }
  grpc::Status Echo(grpc::ServerContext*, const Data* request, Data* reply) override {
    reply->set_octets(request->octets());
    return grpc::Status::OK;
  }
  grpc::Status Put(grpc::ServerContext*, const Data* request, Nothing*) override {
    peers::check_octets(octets_of(request->octets()), request->octets().size());
    return grpc::Status::OK;
  }
  grpc::Status Get(grpc::ServerContext*, const Number* request, Data* reply) override {
    const auto size = static_cast<std::size_t>(request->value());
    reply->mutable_octets()->resize(size);
    if (size > 0) reply->mutable_octets()->back() = static_cast<char>(peers::last_octet(size));
    return grpc::Status::OK;
  }
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  const auto options = peers::server_options(argc, argv);
  GrpcEcho service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(options.address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (!server) return peers::fail("gRPC cannot listen at " + options.address);
  const bool is_local = options.address.starts_with("unix:");
  peers::announce(is_local ? options.address : "127.0.0.1:" + std::to_string(port));
  peers::serve_until_killed();
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
