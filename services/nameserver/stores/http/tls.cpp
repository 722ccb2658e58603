#include "services/nameserver/stores/http/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace corelane::nameserver {
namespace {

std::string last_tls_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "error " + std::to_string(code) : reason;
}

// Clears old errors, because the end of a connection sets neither errno nor an OpenSSL error.
void forget_errors() {
  ERR_clear_error();
  errno = 0;
}

int socket_of(BIO* bio) { return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))); }

bool is_not_now() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// OpenSSL's own socket functions would raise SIGPIPE when the other end is gone.
int write_to_socket(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto sent = send(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && is_not_now()) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int read_from_socket(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto received = recv(socket_of(bio), bytes, static_cast<std::size_t>(size), 0);
  if (received < 0 && is_not_now()) BIO_set_retry_read(bio);
  return static_cast<int>(received);
}

long control_socket(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* socket_method() {
  static const std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (made != nullptr) {
      BIO_meth_set_write(made, write_to_socket);
      BIO_meth_set_read(made, read_from_socket);
      BIO_meth_set_ctrl(made, control_socket);
    }
    return std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)>(made, &BIO_meth_free);
  }();
  return method.get();
}

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }
void TlsSession::Free::operator()(ssl_st* session) const noexcept { SSL_free(session); }

Expected<std::unique_ptr<TlsContext>, std::string> TlsContext::make(const TlsFiles& files) {
  auto made = std::make_unique<TlsContext>();
  made->context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const context = made->context_.get();
  if (context == nullptr) return "TLS cannot be used: " + last_tls_error();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  const auto refused = [](const std::string& what, const std::string& file) {
    return what + " " + file + " cannot be used: " + last_tls_error();
  };
  if (files.authorities.empty())
    SSL_CTX_set_default_verify_paths(context);
  else if (SSL_CTX_load_verify_file(context, files.authorities.c_str()) != 1)
    return refused("the file of authorities", files.authorities);
  if (files.certificate.empty()) return made;
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
    return refused("the certificate", files.certificate);
  const std::string& key = files.key.empty() ? files.certificate : files.key;
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1)
    return refused("the key", key);
  return made;
}

TlsSession::TlsSession(const TlsContext& context, int socket, const std::string& host)
    : host_(host), session_(SSL_new(context.context_.get())) {
  if (session_ == nullptr) return;
  BIO* const bio = socket_method() == nullptr ? nullptr : BIO_new(socket_method());
  if (bio == nullptr) {
    session_.reset();
    return;
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  SSL_set_bio(session_.get(), bio, bio);
  SSL_set_connect_state(session_.get());
  // Without the host name, any certificate of the authorities would be accepted. So there is no session then.
  const bool is_named = is_address(host)
                            ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session_.get()), host.c_str()) == 1
                            : SSL_set1_host(session_.get(), host.c_str()) == 1 &&
                                  SSL_set_tlsext_host_name(session_.get(), host.c_str()) == 1;
  if (!is_named) session_.reset();
}

TlsSession::~TlsSession() = default;

Progress TlsSession::shake_hands() {
  if (session_ == nullptr)
    return {.state = Progress::State::failed,
            .fault = "TLS cannot be prepared for " + host_ + ": no memory, or no name of a host"};
  forget_errors();
  return progress_of(SSL_do_handshake(session_.get()), 0);
}

Progress TlsSession::read(std::span<char> bytes) {
  forget_errors();
  std::size_t count = 0;
  const int result = SSL_read_ex(session_.get(), bytes.data(), bytes.size(), &count);
  return progress_of(result, count);
}

Progress TlsSession::write(std::string_view bytes) {
  forget_errors();
  std::size_t count = 0;
  const int result = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &count);
  return progress_of(result, count);
}

bool TlsSession::is_idle() {
  forget_errors();
  char unasked = 0;
  std::size_t count = 0;
  const int result = SSL_peek_ex(session_.get(), &unasked, 1, &count);
  return result != 1 && SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_READ;
}

Progress TlsSession::progress_of(int result, std::size_t bytes) {
  if (result == 1) return {.bytes = bytes};
  const int number = errno;
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {.state = Progress::State::wants_to_read};
    case SSL_ERROR_WANT_WRITE:
      return {.state = Progress::State::wants_to_write};
    case SSL_ERROR_ZERO_RETURN:
      return {.state = Progress::State::ended};
    case SSL_ERROR_SYSCALL:
      return {.state = Progress::State::failed,
              .fault = number == 0 ? "it closed the connection" : std::generic_category().message(number)};
    default:
      break;
  }
  const long verdict = SSL_get_verify_result(session_.get());
  if (verdict == X509_V_OK) return {.state = Progress::State::failed, .fault = "TLS: " + last_tls_error()};
  ERR_clear_error();
  return {.state = Progress::State::failed,
          .fault = "its certificate does not show that it is " + host_ + ": " + X509_verify_cert_error_string(verdict)};
}

}  // namespace corelane::nameserver
