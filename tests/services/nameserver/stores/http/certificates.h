// Certificates in files of a directory: an authority, and certificates that it signed for a server at 127.0.0.1 and for
// a client.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "services/nameserver/stores/http/tls.h"

namespace corelane::nameserver::testing {
namespace certificates {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

inline Key new_key() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

inline void extend(X509* certificate, int what, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Makes a certificate that is valid from an hour ago for a hundred years, and is not signed yet.
inline Certificate new_certificate(const char* name, long number, EVP_PKEY* key) {
  Certificate made(X509_new(), &X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), number);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_time_adj_ex(X509_getm_notAfter(made.get()), 36'500, 0, nullptr);
  X509_set_pubkey(made.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  return made;
}

inline File file_at(const std::string& path) {
  File file(std::fopen(path.c_str(), "w"), &std::fclose);
  if (!file) throw std::runtime_error("cannot write " + path);
  return file;
}

inline void write(const std::string& path, X509* certificate, EVP_PKEY* key) {
  PEM_write_X509(file_at(path + ".pem").get(), certificate);
  PEM_write_PrivateKey(file_at(path + ".key").get(), key, nullptr, nullptr, 0, nullptr, nullptr);
}

}  // namespace certificates

class Certificates {
 public:
  explicit Certificates(std::string directory);

  TlsFiles of_server() const { return files_of("server"); }
  TlsFiles of_client() const { return files_of("client"); }

 private:
  TlsFiles files_of(const std::string& who) const {
    return {directory_ + "/authority.pem", directory_ + "/" + who + ".pem", directory_ + "/" + who + ".key"};
  }

  const std::string directory_;
};

inline Certificates::Certificates(std::string directory) : directory_(std::move(directory)) {
  using namespace certificates;
  const Key authority_key = new_key();
  const Certificate authority = new_certificate("authority", 1, authority_key.get());
  X509_set_issuer_name(authority.get(), X509_get_subject_name(authority.get()));
  extend(authority.get(), NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(authority.get(), authority_key.get(), EVP_sha256());
  write(directory_ + "/authority", authority.get(), authority_key.get());
  long number = 2;
  for (const char* who : {"server", "client"}) {
    const Key key = new_key();
    const Certificate certificate = new_certificate(who, number++, key.get());
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(authority.get()));
    extend(certificate.get(), NID_subject_alt_name, "IP:127.0.0.1");
    extend(certificate.get(), NID_ext_key_usage, "serverAuth,clientAuth");
    X509_sign(certificate.get(), authority_key.get(), EVP_sha256());
    write(directory_ + "/" + who, certificate.get(), key.get());
  }
}

}  // namespace corelane::nameserver::testing
