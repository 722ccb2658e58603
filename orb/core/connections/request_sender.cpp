#include "orb/core/connections/request_sender.h"

#include "orb/giop/headers.h"
#include "orb/transport/transport_kind.h"

namespace corelane::core {
namespace {

// Returns a batch for kinds of transport over which batching oneways saves much.
std::shared_ptr<OnewayBatch> batch_for(const std::shared_ptr<transport::Connection>& stream) {
  return stream->peer().kind->batches_oneways ? std::make_shared<OnewayBatch>(stream) : nullptr;
}

}  // namespace

RequestSender::RequestSender(const std::shared_ptr<transport::Connection>& stream)
    : stream_(*stream), batch_(batch_for(stream)) {}

void RequestSender::cancel(std::uint32_t request_id) noexcept {
  cdr::Writer writer;
  giop::write_cancel_request(writer, request_id);
  (void)stream_.send(writer.bytes());  // best effort: the caller has its answer already
}

void RequestSender::close_when_sent(Time deadline) noexcept {
  if (batch_) batch_->end(deadline);
  stream_.close_when_sent(deadline);
}

}  // namespace corelane::core
