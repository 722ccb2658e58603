#include "orb/dispatch/manager/peer_inbox.h"

#include <new>
#include <utility>

#include "orb/os/lock.h"

namespace corelane::dispatch {

bool PeerInbox::note_lost(PeerId peer) noexcept {
  const os::LockGuard lock(mutex_);
  if (closed_ || losses_.size() == most_losses) return false;
  losses_.push_back(peer);  // within what was reserved
  return true;
}

bool PeerInbox::attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept try {
  auto attachment = std::make_unique<Attachment>();
  attachment->task = task;
  attachment->owner = owner;
  attachment->source = source;
  {
    const os::LockGuard lock(mutex_);
    if (!closed_) attachments_.push_back(std::move(attachment));
  }
  if (!attachment) return true;
  source->close();
  return false;
} catch (const std::bad_alloc&) {
  source->close();
  return false;
}

std::optional<PeerId> PeerInbox::next_lost() noexcept {
  const os::LockGuard lock(mutex_);
  if (losses_.empty()) return std::nullopt;
  const PeerId lost = losses_.front();
  losses_.erase(losses_.begin());
  return lost;
}

std::unique_ptr<PeerInbox::Attachment> PeerInbox::next_attachment() noexcept {
  const os::LockGuard lock(mutex_);
  return attachments_.pop_front();
}

void PeerInbox::close() noexcept {
  std::optional<NodeList<Attachment>> unattached;
  {
    const os::LockGuard lock(mutex_);
    closed_ = true;
    unattached.emplace(std::move(attachments_));
  }
  while (auto attachment = unattached->pop_front()) attachment->source->close();  // bound: the tasks
}

}  // namespace corelane::dispatch
