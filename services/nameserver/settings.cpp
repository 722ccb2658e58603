#include "services/nameserver/settings.h"

#include <chrono>
#include <string>
#include <string_view>

#include "orb/base/settings/setting_values.h"
#include "orb/channel/access.h"

namespace corelane::nameserver {
namespace setting_values {
namespace {

std::string longest_lease(NameserverSettings& s, std::string_view text) {
  Duration span{};
  if (!parse::span_of_time(text, span).empty() || span < std::chrono::milliseconds{100})
    return "a duration from 100ms to 366 days, such as 3600s";
  return s.longest_lease = span, std::string{};
}

std::string network_writers(NameserverSettings& s, std::string_view text) {
  using Unknown = NameserverSettings::Unknown;
  return parse::choice(text, s.network_writers,
                       {{"auto", Unknown::automatic}, {"on", Unknown::on}, {"off", Unknown::off}});
}

}  // namespace
}  // namespace setting_values

SettingsOf<NameserverSettings> nameserver_settings() {
  using S = NameserverSettings;
  using V = std::string_view;
  static const Setting<S> all[] = {
      {"naming.store", "",
       "Where corelane-nameserver keeps names: memory (they end with it), sqlite:PATH or etcd:URL. Without it, the "
       "file names.db, in /var/lib/corelane for root, in $XDG_STATE_HOME/corelane or ~/.local/state/corelane for "
       "others",
       [](S& s, V v) { return parse::any_text(v, s.store); }},
      {"naming.move_aside_damaged", "off",
       "on: a damaged file of names is renamed to FILE.damaged-1, and a new one begins without names. off: "
       "corelane-nameserver refuses to start",
       [](S& s, V v) { return parse::yes_or_no(v, s.move_aside_damaged); }},
      {"naming.names", "1000000",
       "Names that corelane-nameserver holds. Beyond this and the limits below clients get IMP_LIMIT",
       [](S& s, V v) { return parse::size(v, s.names, 1, 100'000'000); }},
      {"naming.contexts", "100000", "Contexts that it holds",
       [](S& s, V v) { return parse::size(v, s.contexts, 0, 10'000'000); }},
      {"naming.depth", "64", "Components of one name", [](S& s, V v) { return parse::size(v, s.depth, 1, 1024); }},
      {"naming.name_length", "1024", "Bytes of an id, and of a kind",
       [](S& s, V v) { return parse::bytes(v, s.name_length, 1, 65'536); }},
      {"naming.iterators", "1024",
       "Binding iterators that exist at one time. Beyond it, the one unused for longest ends",
       [](S& s, V v) { return parse::size(v, s.iterators, 1, 100'000); }},
      {"naming.iterator_age", "300s", "How long an unused iterator stays",
       [](S& s, V v) { return parse::span_of_time(v, s.iterator_age); }},
      {"naming.leases", "10000", "Leases of ephemeral names that exist at one time",
       [](S& s, V v) { return parse::size(v, s.leases, 0, 1'000'000); }},
      {"naming.longest_lease", "3600s", "How long a lease may last between two renewals, from 100ms to 366 days",
       setting_values::longest_lease},
      {"naming.watches", "1024", "Listeners to changes",
       [](S& s, V v) { return parse::size(v, s.watches, 0, 100'000); }},
      {"naming.client_names", "10000",
       "Names of one client, that is of all processes of a user of the nameserver's host, or of all that come from one "
       "address. Root and the user of corelane-nameserver have no such limit",
       [](S& s, V v) { return parse::size(v, s.client_names, 0, 100'000'000); }},
      {"naming.client_leases", "1000",
       "Leases of one client, that is of all processes of a user of the nameserver's host, or of all that come from "
       "one address",
       [](S& s, V v) { return parse::size(v, s.client_leases, 0, 1'000'000); }},
      {"naming.client_watches", "64", "Listeners of one client",
       [](S& s, V v) { return parse::size(v, s.client_watches, 0, 100'000); }},
      {"naming.client_iterators", "256", "Binding iterators of one client. Beyond it, its oldest one ends",
       [](S& s, V v) { return parse::size(v, s.client_iterators, 1, 100'000); }},
      {"naming.reference_size", "16384", "Bytes of a reference that is bound, as IOR: text",
       [](S& s, V v) { return parse::bytes(v, s.reference_size, 1024, 1024 * 1024); }},
      {"naming.foreign_calls", "16",
       "Calls at one time of corelane-nameserver into contexts of other servers. Beyond it, and if they do not answer, "
       "clients get CannotProceed and continue there themselves. At most best_effort.waiting, or one fewer than "
       "best_effort.threads if that is more",
       [](S& s, V v) { return parse::size(v, s.foreign_calls, 0, 10'000); }},
      {"naming.foreign_time", "3s", "How long such a call may take",
       [](S& s, V v) { return parse::span_of_time(v, s.foreign_time); }},
      {"naming.writers",
       "",
       "Users who may change names (bind, unbind, make and destroy contexts, take leases), besides root and the user "
       "of corelane-nameserver: names or numbers, groups as @name (all members), or anyone, separated by commas. Only "
       "its owner, root and the user of corelane-nameserver change a name that one of them has bound. Others may "
       "resolve, list and watch",
       [](S& s, V v) { return channel::parse_access(v, s.writers); },
       {.first = 4}},
      {"naming.network_writers", "auto",
       "Whether clients over TCP, whose user the kernel does not know, may change names: on, off, or auto (on if "
       "naming.writers is anyone). ORBs other than Corelane need it",
       setting_values::network_writers},
  };
  return all;
}

}  // namespace corelane::nameserver
