// TLS over a socket that does not block, by OpenSSL: TLS 1.2 and later, as a client who knows whom he speaks to.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "orb/base/expected.h"

struct ssl_ctx_st;
struct ssl_st;

namespace corelane::nameserver {

// Files in PEM.
struct TlsFiles {
  std::string authorities{};  // of servers; empty: those of the system
  std::string certificate{};  // of this client, and those that it rests on; empty: none
  std::string key{};          // empty: in the file of the certificate
};

// What all connections to a service share. Threads: any.
class TlsContext {
 public:
  // Or, as a sentence: which file does not serve, and why.
  static Expected<std::unique_ptr<TlsContext>, std::string> make(const TlsFiles& files);

 private:
  friend class TlsSession;
  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };

  std::unique_ptr<ssl_ctx_st, Free> context_;
};

// What came of one try that does not wait.
struct Progress {
  enum class State : unsigned char { done, wants_to_read, wants_to_write, ended, failed };
  State state = State::done;
  std::size_t bytes = 0;
  std::string fault{};  // of failed
};

// One connection. Threads: one at a time.
class TlsSession {
 public:
  // `host`: whose certificate it has to be, by name or address; where that cannot be checked shake_hands() fails. The
  // socket belongs to the caller and outlives this.
  TlsSession(const TlsContext& context, int socket, const std::string& host);
  ~TlsSession();

  Progress shake_hands();
  Progress read(std::span<char> bytes);
  Progress write(std::string_view bytes);
  // Whether the other end has neither closed it nor said something unasked; what it says to TLS alone is taken in.
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
