// TlsFiles names the files that a client of a TLS server uses.
// Threads: a value.
#pragma once

#include <string>

namespace corelane::nameserver {

// Files in PEM format.
struct TlsFiles {
  std::string authorities{};  // certificates that servers' certificates are checked with; empty: the system's
  std::string certificate{};  // of this client, with its chain; empty: none
  std::string key{};          // empty: in the certificate's file
};

}  // namespace corelane::nameserver
