// CalledOperation is what a request calls: an operation of an object, over a connection.
//
// It owns neither object nor connection while the request runs on the thread that has read it, because the thread and
// the connection keep both alive. Call own() before that ends.
//
// Threads: one at a time.
#pragma once

#include <memory>
#include <utility>

#include "orb/core/objects/object_dispatch.h"
#include "orb/core/server/server_connection.h"
#include "orb/core/skeleton.h"

namespace corelane::core {

class CalledOperation {
 public:
  void set(ServerConnection& connection, ActiveObject& object, const Upcall& upcall) noexcept {
    connection_ = &connection;
    object_ = &object;
    upcall_ = &upcall;
  }
  // Sets what another request calls.
  void set(const CalledOperation& other) noexcept { set(other.connection(), other.object(), other.upcall()); }
  // Returns false after release(), until the next set().
  bool is_set() const noexcept { return connection_ != nullptr; }
  // Keeps the connection and the object alive until release().
  void own() noexcept {
    owned_connection_ = connection_->shared_from_this();
    owned_object_ = object_->shared_from_this();
  }
  // Releases both. Returns the connection if it was owned, so that the caller can keep it for longer.
  [[nodiscard]] std::shared_ptr<ServerConnection> release() noexcept {
    connection_ = nullptr;
    object_ = nullptr;
    owned_object_.reset();
    return std::move(owned_connection_);
  }

  // For an operation that is set.
  ServerConnection& connection() const noexcept { return *connection_; }
  ActiveObject& object() const noexcept { return *object_; }
  const Upcall& upcall() const noexcept { return *upcall_; }

 private:
  ServerConnection* connection_ = nullptr;
  ActiveObject* object_ = nullptr;
  const Upcall* upcall_ = nullptr;
  std::shared_ptr<ServerConnection> owned_connection_;
  std::shared_ptr<ActiveObject> owned_object_;
};

}  // namespace corelane::core
