// TlsSession is the client side of TLS over a nonblocking socket, with OpenSSL: TLS 1.2 and later. It checks the
// server's certificate.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "services/nameserver/stores/tls_files.h"

struct ssl_ctx_st;
struct ssl_st;

namespace corelane::nameserver {

// What all connections to a service share.
// Threads: any.
class TlsContext {
 public:
  // On failure returns a sentence: which file cannot be used, and why.
  static Expected<std::unique_ptr<TlsContext>, std::string> make(const TlsFiles& files);

 private:
  friend class TlsSession;
  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };

  std::unique_ptr<ssl_ctx_st, Free> context_;
};

// The result of one attempt that does not wait.
struct Progress {
  enum class State : unsigned char { done, wants_to_read, wants_to_write, ended, failed };
  State state = State::done;
  std::size_t bytes = 0;
  std::string fault{};  // the reason, for failed
};

// One connection.
// Threads: one at a time.
class TlsSession {
 public:
  // The server's certificate must be for `host`, a name or an address. If that cannot be checked, shake_hands() fails.
  // The socket belongs to the caller and must outlive this.
  TlsSession(const TlsContext& context, int socket, const std::string& host);
  ~TlsSession();

  Progress shake_hands();
  Progress read(std::span<char> bytes);
  Progress write(std::string_view bytes);
  // Returns whether the other end has neither closed nor sent data without a request. Handles TLS's own messages.
  bool is_idle();

 private:
  struct Free {
    void operator()(ssl_st* session) const noexcept;
  };

  Progress progress_of(int result, std::size_t bytes);

  const std::string host_;
  std::unique_ptr<ssl_st, Free> session_;
};

}  // namespace corelane::nameserver
