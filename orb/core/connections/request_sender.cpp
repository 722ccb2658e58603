#include "orb/core/connections/request_sender.h"

#include "orb/base/minor.h"
#include "orb/dispatch/current.h"
#include "orb/giop/headers.h"
#include "orb/os/thread.h"
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

Expected<void> RequestSender::send_by_class(Time deadline, Parts request, bool may_wait,
                                            std::uint64_t& position) noexcept {
  const auto sent = send(Time{}, request, position);
  if (sent || sent.error().minor != minor::no_send_room) return sent;
  if (!may_wait && os::is_real_time()) return stream_.send(request, position);
  const dispatch::SuspensionScope waits;
  return send(deadline, request, position);
}

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
