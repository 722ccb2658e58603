// EtcdAddress names an etcd cluster and a prefix of its keys.
// Threads: none; values.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "services/nameserver/stores/http/host_lookup.h"

namespace corelane::nameserver {

struct EtcdAddress {
  std::vector<HttpEndpoint> endpoints;
  std::string prefix;   // ends with '/'
  bool is_tls = false;  // https

  // Returns the whole address as one URL.
  std::string text() const;
};

struct AddressFault {
  std::string text;
};

// Parses "http://HOST:PORT[,HOST:PORT...][/PREFIX]", or https://. Several hosts are one cluster. An IPv6 address is in
// brackets.
Expected<EtcdAddress, AddressFault> parse_etcd_address(const std::string& url);

}  // namespace corelane::nameserver
