#include "orb/base/minor.h"

namespace corelane::minor {
namespace {

constexpr Entry table[] = {
    {truncated, "the message ends inside a value; the peer's IDL may differ from ours"},
    {bad_string, "a string has no terminating NUL, or one inside; the peer's encoder is at fault"},
    {bad_enum, "an enumerator out of range; the peer's IDL may be newer"},
    {sequence_too_long, "a sequence claims more elements than the message has bytes for"},
    {bad_magic, "the bytes are not GIOP; another protocol talks to this port"},
    {bad_version, "a GIOP version other than 1.0, 1.1 or 1.2"},
    {bad_message_type, "an unknown GIOP message type, or one that this side never receives"},
    {message_too_large, "a message above limits.message_size; raise it on both sides or send less at once"},
    {bad_fragment,
     "a fragment that continues no message or is too old, or a message in more than 16,384 fragments, or too much in "
     "fragments at once: let the peer send larger ones"},
    {too_many_items,
     "more service contexts, profiles or components than limits allow; of an admission: the host's ledger has no more "
     "room for this process, which may enter 511 promises (tasks, and each core's platform load): set limits.tasks "
     "lower, or runtime.ledger = off where no other server promises anything"},
    {bad_ior, "not a well-formed object reference"},
    {bad_encapsulation, "a malformed encapsulation"},
    {too_deep, "values nested deeper than 64"},
    {trailing_bytes, "bytes left after the last value; the peer's IDL may differ from ours"},
    {string_has_nul, "a string holds a NUL character, which CORBA strings cannot carry"},
    {bound_exceeded, "a bounded string or sequence is longer than its bound"},
    {nil_reference, "a nil reference was used; narrow() gives one for nil and for an object of another type"},
    {empty_external, "an empty IDL::external was sent or looked into; give it a value first"},
    {too_many_empty,
     "more than 65,536 values that take no bytes on the wire, such as structs without members, in the sequences of one message or in an Any; "
     "send fewer at once, or give the type a member"},
    {bad_fixed, "a fixed-point value with a half octet that is no digit or no sign, or with more digits than its type"},
    {union_member, "a member of a union that its discriminator does not select; look at _d() first"},
    {bad_typecode, "a malformed TypeCode"},
    {bad_indirection, "an indirection that leads forward, outside the message or to nothing that can be shared"},
    {too_many_nodes, "a TypeCode or Any with more parts than the limit"},
    {bad_value_tag, "a value type with a malformed tag, chunk or repository id"},
    {no_member, "the TypeCode's kind has no such part, or it has fewer members"},
    {bad_map, "a map with the same key twice"},
    {value_needs_giop_1_2,
     "value types travel in GIOP 1.2 only, and this message is older; a corbaloc address names a version: "
     "corbaloc:iiop:1.2@host"},
    {wrong_value_type,
     "a value of another type than the one declared, or a factory that makes another than its id says"},
    {bad_value_state, "a value whose state is longer than its type, or that its class could not read"},
    {stream_closed, "a stream of custom marshalling was used after marshal() or unmarshal() had returned"},
    {not_utf_8,
     "a string that is not UTF-8; convert text to UTF-8 before it goes into a std::string, and use sequence<octet> for "
     "bytes that are no text"},
    {connect_failed, "nothing answers; is the server running, and is its address reachable?"},
    {connection_lost,
     "the connection broke, while the call was on its way or before; a task of one's own went with it: let its handle "
     "go and admit it anew"},
    {no_usable_profile, "the reference names no transport that this process can use"},
    {deadline_passed, "no reply within the time allowed; see timeout.request"},
    {send_backlog,
     "more waits for the peer than limits.backlog allows, and the connection was closed: threads that may not wait "
     "sent more at once than the peer could take; raise limits.backlog above the largest messages that are on their "
     "way at one time"},
    {send_stalled,
     "the peer took nothing of what waits for it for timeout.backlog, while more was to be sent, and the connection "
     "was closed: it does not read, or is stopped"},
    {no_send_room,
     "the peer did not take what was sent before within the time allowed, so nothing was sent; it reads slowly, or not "
     "at all; see timeout.request and limits.backlog"},
    {send_backlogs,
     "what waits for this peer, or for all peers, reached limits.memory, and this connection was closed: its peer took "
     "nothing for some time, or a thread that may not wait had more to send. Raise limits.memory, or read faster"},
    {peer_closed,
     "the peer closed the connection in good order, and the call did not run: the server ends, or has as many "
     "connections as limits.connections and limits.connections_per_peer allow; its log says which"},
    {address_in_use, "the address is taken; choose another with -ORBEndpointListen or endpoint.listen"},
    {bad_address, "no address: neither host:port, such as localhost:2809 or [::1]:2809, nor a name that resolves"},
    {unknown_host,
     "the host's name does not resolve: the name service knows no such host; look at the name, at /etc/hosts here and, "
     "for a server's reference, at endpoint.host there"},
    {no_name_service,
     "the host's name does not resolve: the name service gives no answer now; look at /etc/resolv.conf, or name the "
     "host by its address"},
    {message_error, "the peer could not read our message"},
    {forward_loop, "the reference was forwarded too often"},
    {idle_timeout, "the connection carried nothing for timeout.idle and was closed"},
    {closed_here, "this process closed the connection"},
    {listen_denied,
     "permission denied, as for ports below 1024; choose another with -ORBEndpointListen or endpoint.listen"},
    {half_messages,
     "the receiver's limits.memory, or this peer's part of it, was used up, and no more of this request came for some "
     "time while others waited for room: the connection was closed before the request was whole. Try again, or raise "
     "the receiver's limit"},
    {rest_missing, "half a message came, and not its rest within timeout.header"},
    {beyond_select,
     "leader-followers waits by select(), which carries descriptors up to 1023 (and the limit of ulimit -n at the "
     "start): the connection was refused; use dispatch.mode direct or manager, or lower limits.connections"},
    {chain_too_deep,
     "calls that call each other back wait inside one another more than 32 deep; let some of them return first"},
    {channel_spoiled,
     "the other end wrote into the shared memory of a channel what no correct end writes; the channel was closed. "
     "Update or mend that program, or call it through sockets (client.channel = off)"},
    {address_not_here, "not an address of this host; choose another with -ORBEndpointListen or endpoint.listen"},
    {not_schedulable, "admission refused: on no core would every deadline still hold"},
    {no_core_leased,
     "this process holds no lease on a core: other servers of this host hold them, or corelane-reserved gave it none"},
    {too_many_tasks, "limits.tasks reached"},
    {queue_full,
     "a queue of requests is full, or this client's part of it, the server is overloaded: fewer requests at once, or a "
     "larger limit there: dispatch.queue_capacity, or limits.requests of one connection"},
    {bad_contract,
     "a contract that promises nothing: outside 0 < C <= D <= 1 h, 0 <= J < D, 0 < T <= 1 h, 0 <= S <= D - C, or D + J "
     "spans more than 8 periods"},
    {unknown_task, "the task id is not known here, or has left; admit it again"},
    {shutting_down, "the server is shutting down"},
    {job_waiting,
     "a job of this task waits already: calls come faster than its contract allows, or its jobs overrun; call once a "
     "period, one call after the other. Callers without a task of their own share one, corelane::rt::admit() gives "
     "each its own"},
    {analysis_limit, "the response-time analysis reached its iteration cap, so the task was refused"},
    {core_unusable, "the core does not exist or is outside this process's affinity mask; see pool.cores"},
    {no_thread,
     "the system gave no further thread: this user's or its cgroup's are at their limit, or memory is; raise ulimit -u "
     "(RLIMIT_NPROC, LimitNPROC= of a systemd unit) or pids.max (TasksMax=)"},
    {no_real_time,
     "the system refused SCHED_FIFO, SCHED_DEADLINE or memory locking; the log says which, and which command mends it"},
    {admission_pending, "the admission of this operation is being decided; ask again"},
    {overrun_policy, "budgets are not watched here, so demote and cancel would not be kept; use report"},
    {neighbour_late, "another process's task on the only cores with room would be late; use fewer processes or cores"},
    {connection_bound, "the connection is one task's own, or has tasks of its own; open another one"},
    {budget_spent, "the job used up its budget and its contract says cancel; it may have had effects"},
    {ledger_busy, "another server of this host is making promises in the host ledger just now; try again"},
    {ledger_unusable, "the host ledger is damaged or gone and is being mended; try again, the servers' logs say more"},
    {no_descriptor, "the system gives this process no further descriptor; raise ulimit -n"},
    {ledger_full,
     "the host ledger has a place for 64 servers, and all are taken; end some, or let some meet elsewhere: "
     "runtime.directory"},
    {tasks_in_circle,
     "the task that is called waits for the calling one, in another chain of calls, and neither would go on; make the "
     "call without a contract, asynchronously, or before or after the job"},
    {bad_uri, "not a reference: expected IOR:HEX, corbaloc:ADDRESS/KEY, corbaname:ADDRESS#NAME or file://PATH"},
    {no_such_object, "no object with this key is active here"},
    {earlier_start,
     "the reference is of an earlier start of this server, or of another server that was reached at this address "
     "before; get a new reference, by name or from the server's output"},
    {no_such_adapter, "no object adapter with this name is here"},
    {adapter_inactive, "the object adapter discards requests or is inactive"},
    {wrong_servant, "the servant is not active in this adapter"},
    {bad_option, "an option or configuration key is unknown or has a bad value"},
    {no_such_initial_reference, "no initial reference of this name"},
    {no_such_operation, "the interface has no such operation; the client's IDL may be newer"},
    {undeclared_exception, "the servant threw a user exception that its operation does not declare"},
    {servant_threw, "the servant threw something that is no CORBA exception; the server's log has its text"},
    {orb_destroyed, "the ORB was shut down or destroyed"},
    {version_mismatch, "the generated code was made for another version of the library; run corelane-idl again"},
    {system_refused, "the operating system refused a call; the log says which"},
    {out_of_memory, "the server has no memory left for it; see ulimit -v, its cgroup's memory.max and limits.*"},
    {names_full,
     "the nameserver holds as many names or contexts as naming.names and naming.contexts allow, or the context 100,000 "
     "names, as many as one takes; unbind some, raise these settings of its, or spread the names over more contexts"},
    {names_unavailable, "the nameserver's store does not answer, so nothing can be changed now; its log says why"},
    {forked,
     "this process was forked from one that has an ORB, whose threads and connections stayed there; fork before "
     "ORB_init, or let the child exec another program or end by _exit()"},
    {no_direct_call,
     "direct() was asked for an object that cannot be called without the object adapter; the exception's text says "
     "why; call it through its reference"},
};

// CORBA 3.3 part 1, A.5.
constexpr StandardEntry standard_table[] = {
    {ErrorKind::marshal,
     {no_value_factory, "no factory for this value type; register one with ORB::register_value_factory"}},
    {ErrorKind::marshal,
     {omg | 4, "a local object was to be sent or written as text, and nobody could call it; send one of a servant's"}},
    {ErrorKind::marshal,
     {omg | 5, "wchar and wstring do not exist in GIOP 1.0, which the other end speaks; use char and string"}},
    {ErrorKind::no_implement,
     {omg | 8, "a local object has no such operation: it belongs to no server, and has no repository to ask"}},
    {ErrorKind::bad_inv_order,
     {omg | 3,
      "it would wait for itself: inside a servant or a handler nobody waits until requests have ended; use "
      "shutdown(false) or wait_for_completion = false there, or let another thread wait"}},
    {ErrorKind::data_conversion,
     {omg | 1,
      "a character that the code set of the connection lacks, or what is no character at all. Text travels as ISO "
      "8859-1 to corbaloc addresses and to servers whose own code set that is: call through a reference that the "
      "server made, or let it offer UTF-8 as its own"}},
    {ErrorKind::codeset_incompatible,
     {omg | 1, "client and server have no code set in common; let one of them offer UTF-8, and UTF-16 for wchar"}},
    {ErrorKind::codeset_incompatible,
     {omg | 2,
      "the client chose a code set for strings that this server did not offer; it takes UTF-8 and ISO 8859-1"}},
    {ErrorKind::inv_objref,
     {omg | 1, "the server's reference offers no code set for wchar and wstring; use char and string"}},
    {ErrorKind::inv_objref,
     {omg | 2,
      "wchar and wstring need a reference that names code sets, which a corbaloc address does not; call through a "
      "reference that the server made"}},
    {ErrorKind::bad_param,
     {omg | 23, "wchar or wstring from a client that has named no code set for them on this connection"}},
    {ErrorKind::intf_repos, {omg | 1, "there is no interface repository; corelane-idl keeps none"}},
};

}  // namespace

std::string_view text(std::uint32_t code) noexcept {
  for (const Entry& entry : table)
    if (entry.code == code) return entry.text;
  return {};
}

std::string_view text(const Error& error) noexcept {
  for (const StandardEntry& standard : standard_table)
    if (standard.kind == error.kind && standard.entry.code == error.minor) return standard.entry.text;
  return text(error.minor);
}

std::span<const StandardEntry> standard() noexcept { return standard_table; }

}  // namespace corelane::minor
