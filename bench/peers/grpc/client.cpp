// gRPC's client. Callers share one channel by default; with --kind own each has a channel and a connection of its own.
#include <grpcpp/grpcpp.h>

#include <stdexcept>
#include <string>

#include "bench/peers/driver/loads.h"
#include "bench/peers/driver/process.h"
#include "echo.grpc.pb.h"

namespace {

using namespace peers_grpc;

void check(const grpc::Status& status) {
  if (!status.ok()) throw std::runtime_error("gRPC: " + status.error_message());
}

peers::Octets octets_of(const Data& data) {
  return {reinterpret_cast<const std::uint8_t*>(data.octets().data()), data.octets().size()};
}

class GrpcCaller : public peers::Caller {
 public:
  explicit GrpcCaller(const std::shared_ptr<grpc::Channel>& channel) : stub_(EchoServer::NewStub(channel)) {}

  std::int64_t ping(std::int64_t value) override {
    grpc::ClientContext context;
    Number request, reply;
    request.set_value(value);
    check(stub_->Ping(&context, request, &reply));
    return reply.value();
  }
  peers::Octets echo(peers::Octets octets) override {
    grpc::ClientContext context;
    result_ = {};
    check(stub_->Echo(&context, argument(octets), &result_));
    return octets_of(result_);
  }
  peers::Octets get(std::size_t size) override {
    grpc::ClientContext context;
    Number request;
    request.set_value(static_cast<std::int64_t>(size));
    result_ = {};
    check(stub_->Get(&context, request, &result_));
    return octets_of(result_);
  }
  void put(peers::Octets octets) override {
    grpc::ClientContext context;
    Nothing reply;
    check(stub_->Put(&context, argument(octets), &reply));
  }

 private:
  // The driver passes the same octets in each call, so they are copied into the mapping's type once.
  const Data& argument(peers::Octets octets) {
    if (argument_.octets().size() != octets.size()) argument_.set_octets(octets.data(), octets.size());
    return argument_;
  }

  std::unique_ptr<EchoServer::Stub> stub_;
  Data argument_, result_;
};

class GrpcPeer : public peers::Peer {
 public:
  explicit GrpcPeer(const peers::ClientOptions& options)
      : address_(options.address), has_own_channels_(options.kind == "own"), shared_(new_channel()) {}

  std::unique_ptr<peers::Caller> connect() override {
    return std::make_unique<GrpcCaller>(has_own_channels_ ? new_channel() : shared_);
  }

 private:
  std::shared_ptr<grpc::Channel> new_channel() const {
    grpc::ChannelArguments arguments;
    if (has_own_channels_) arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
  }

  std::string address_;
  bool has_own_channels_;
  std::shared_ptr<grpc::Channel> shared_;
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  const auto options = peers::client_options(argc, argv);
  GrpcPeer peer(options);
  return peers::run_client(options, peer);
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
