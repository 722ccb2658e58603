#include "services/nameserver/stores/etcd/etcd_settings.h"

#include <string_view>

#include "orb/base/settings/setting_values.h"

namespace corelane::nameserver {

SettingsOf<EtcdSettings> etcd_settings() {
  using S = EtcdSettings;
  using V = std::string_view;
  static const Setting<S> all[] = {
      {"naming.etcd_user", "",
       "The user name with which corelane-nameserver logs in to etcd. Without it, it does not log in",
       [](S& s, V v) { return parse::any_text(v, s.user); }},
      {"naming.etcd_password_file", "", "The file whose first line is that user's password",
       [](S& s, V v) { return parse::any_text(v, s.password_file); }},
      {"naming.etcd_ca_file", "",
       "Certificates in PEM of the authorities that may vouch for an etcd at https. Without it, the system's",
       [](S& s, V v) { return parse::any_text(v, s.ca_file); }},
      {"naming.etcd_certificate_file", "", "The certificate in PEM that corelane-nameserver shows to such an etcd",
       [](S& s, V v) { return parse::any_text(v, s.certificate_file); }},
      {"naming.etcd_key_file", "", "The key of that certificate. Without it, the key is in the same file",
       [](S& s, V v) { return parse::any_text(v, s.key_file); }},
      {"naming.etcd_copy", "",
       "The file in which corelane-nameserver keeps a copy of the names in etcd, to start from while etcd is away. "
       "Without it, etcd-copy.db, in the directory of names.db. off: none",
       [](S& s, V v) { return parse::any_text(v, s.copy); }},
  };
  return all;
}

}  // namespace corelane::nameserver
