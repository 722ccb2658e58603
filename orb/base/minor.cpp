#include "orb/base/minor.h"

namespace corelane::minor {
namespace {

constexpr Entry table[] = {
    {truncated, "the message ends inside a value; the peer's IDL may differ from ours"},
    {bad_string, "a string has no terminating NUL, or one inside; the peer's encoder is at fault"},
    {bad_enum, "an enumerator is out of range; the peer's IDL may be newer"},
    {sequence_too_long, "a sequence claims more elements than the message has bytes for"},
    {bad_magic, "the bytes are not GIOP; another protocol talks to this port"},
    {bad_version, "the peer speaks a GIOP version other than 1.0, 1.1 or 1.2"},
    {bad_message_type, "the peer sent an unknown GIOP message type, or one that this side never receives"},
    {message_too_large, "the message is longer than limits.message_size; raise it on both sides or send less at once"},
    {bad_fragment,
     "a fragment continues no message or is too old, or a message has more than 16,384 fragments, or unfinished "
     "messages hold too many bytes; let the peer send larger fragments"},
    {too_many_items,
     "a reference has more than 64 profiles or components, or a service context has more entries than its kind may "
     "have; let the program that made it write fewer"},
    {bad_ior, "the object reference is malformed"},
    {bad_encapsulation, "an encapsulation is malformed"},
    {too_deep, "values are nested deeper than 64 levels"},
    {trailing_bytes, "bytes are left after the last value; the peer's IDL may differ from ours"},
    {string_has_nul, "a string holds a NUL character, which CORBA strings cannot carry"},
    {bound_exceeded, "a bounded string or sequence is longer than its bound"},
    {nil_reference, "a nil reference was used; narrow() gives one for nil and for an object of another type"},
    {empty_external, "an empty IDL::external was sent or looked into; give it a value first"},
    {too_many_empty,
     "one message or Any has more than 65,536 values that take no bytes on the wire, such as structs without members; "
     "send fewer at once, or give the type a member"},
    {bad_fixed, "a fixed-point value has a wrong digit or sign, or more digits than its type"},
    {union_member, "a union was asked for a member that its discriminator does not select; look at _d() first"},
    {bad_typecode, "the TypeCode is malformed"},
    {bad_indirection, "an indirection leads forward, outside the message, or to nothing that can be shared"},
    {too_many_nodes, "a TypeCode or Any has more parts than the limit"},
    {bad_value_tag, "a value type has a malformed tag, chunk or repository id"},
    {no_member, "the TypeCode's kind has no such part, or it has fewer members"},
    {bad_map, "a map has the same key twice"},
    {value_needs_giop_1_2,
     "value types travel in GIOP 1.2 only, and this message is older; name the version in a corbaloc address: "
     "corbaloc:iiop:1.2@host"},
    {wrong_value_type,
     "a value has another type than the declared one, or a factory made a value of another type than its id says"},
    {bad_value_state, "the state of a value is longer than its type, or its class could not read it"},
    {stream_closed, "a stream of custom marshalling was used after marshal() or unmarshal() had returned"},
    {not_utf_8,
     "a string is not UTF-8; convert text to UTF-8 before it goes into a std::string, and use sequence<octet> for "
     "bytes that are no text"},
    {connect_failed, "nothing answers; is the server running, and is its address reachable?"},
    {connection_lost,
     "the connection broke, before the call or during it. If the server has ended, wait until it runs again and get a "
     "new reference, for example by its name"},
    {no_usable_profile, "the reference names no transport that this process can use"},
    {deadline_passed, "no reply came within the time allowed; see timeout.request"},
    {send_backlog,
     "the connection was closed, because more bytes waited for the peer than limits.backlog allows: threads that may "
     "not wait sent more at once than the peer could read. Raise limits.backlog above the largest messages that are on "
     "their way at one time"},
    {send_stalled,
     "the connection was closed, because the peer read nothing for timeout.backlog while data waited for it: the peer "
     "does not read, or is stopped"},
    {no_send_room,
     "nothing was sent, because the peer did not read earlier data within the time allowed: the peer reads slowly, or "
     "not at all; see timeout.request and limits.backlog"},
    {send_backlogs,
     "the connection was closed, because data that waits for this peer, or for all peers, reached limits.memory: the "
     "peer read nothing for some time, or a thread that may not wait had more to send. Raise limits.memory, or read "
     "faster"},
    {peer_closed,
     "the peer closed the connection in good order, and the call did not run: the server is ending, or has as many "
     "connections as limits.connections and limits.connections_per_peer allow; its log says which"},
    {address_in_use, "the address is taken; choose another with -ORBEndpointListen or endpoint.listen"},
    {bad_address,
     "this is no address: expected host:port, such as localhost:2809 or [::1]:2809, and a host that resolves"},
    {unknown_host,
     "the host's name does not resolve: the name service knows no such host; look at the name, at /etc/hosts here and, "
     "for a server's reference, at endpoint.host there"},
    {no_name_service,
     "the host's name does not resolve: the name service gives no answer now; look at /etc/resolv.conf, or name the "
     "host by its address"},
    {message_error, "the peer could not read our message"},
    {forward_loop, "the reference was forwarded too often"},
    {idle_timeout, "the connection was closed, because it carried nothing for timeout.idle"},
    {closed_here, "this process closed the connection"},
    {listen_denied,
     "permission denied, as for ports below 1024; choose another with -ORBEndpointListen or endpoint.listen"},
    {too_many_contexts,
     "a message has more service contexts than its receiver takes (64 in Corelane); let its sender's interceptors or "
     "request hooks add fewer"},
    {half_messages,
     "the connection was closed before the request was whole: the receiver's limits.memory, or this peer's part of it, "
     "is used up, and the request did not continue while others waited for room. Try again, or raise the receiver's "
     "limit"},
    {rest_missing, "a message was cut off: its rest did not come within timeout.header"},
    {beyond_select,
     "the connection was refused, because dispatch.mode leader-followers waits by select(), which takes descriptors up "
     "to 1023 (and the limit of ulimit -n at the start); use dispatch.mode direct or manager, or lower "
     "limits.connections"},
    {chain_too_deep, "calls that call each other back are nested more than 32 deep; let some of them return first"},
    {channel_spoiled,
     "the channel was closed, because the other end wrote invalid data into its shared memory. Update or repair that "
     "program, or call it through sockets (client.channel = off)"},
    {address_not_here, "the address is none of this host; choose another with -ORBEndpointListen or endpoint.listen"},
    {not_schedulable, "admission was refused, because a deadline would be missed on every core"},
    {no_core_leased,
     "this process holds no lease on a core: other servers of this host hold them, or corelane-reserved gave it none"},
    {too_many_tasks, "the server has as many tasks as limits.tasks allows; end some, or raise it"},
    {queue_full,
     "the server is overloaded: a queue of requests is full, or this client's part of it. Send fewer requests at once, "
     "or raise dispatch.queue_capacity or, for one connection, limits.requests there"},
    {bad_contract,
     "the contract is invalid: it needs 0 < C <= D <= 1 h, 0 <= J < D, 0 < T <= 1 h and 0 <= S <= D - C, and D + J may "
     "span at most 8 periods"},
    {unknown_task, "the server does not know the task, or the task has left; admit it again"},
    {shutting_down, "the server is shutting down"},
    {job_waiting,
     "a job of this task waits already: calls come faster than the contract allows, or jobs overrun. Call once a "
     "period, one call after the other. Callers without a task of their own share one; corelane::rt::admit() gives "
     "each its own"},
    {analysis_limit, "the response-time analysis reached its iteration cap, so the task was refused"},
    {core_unusable, "the core does not exist or is outside this process's affinity mask; see pool.cores"},
    {no_thread,
     "the system cannot create a thread: this user or its cgroup has as many as it may, or there is no memory; raise "
     "ulimit -u (RLIMIT_NPROC, LimitNPROC= of a systemd unit) or pids.max (TasksMax=)"},
    {no_real_time,
     "the system refused SCHED_FIFO, SCHED_DEADLINE or memory locking; the log says which, and which command mends it"},
    {admission_pending, "the admission of this operation is being decided; ask again"},
    {overrun_policy, "budgets are not watched here, so demote and cancel would have no effect; use report"},
    {other_process_late,
     "the task fits only on cores where it would make another process's task late; use fewer processes or cores"},
    {connection_bound, "the connection belongs to one task, or has tasks of its own; open another one"},
    {budget_spent,
     "the job was cancelled, because it used up its budget and its contract says cancel; it may have had effects"},
    {ledger_busy, "another server of this host is making promises in the host ledger now; try again"},
    {ledger_unusable, "the host ledger is damaged or gone and is being mended; try again, the servers' logs say more"},
    {no_descriptor, "the system gives this process no further descriptor; raise ulimit -n"},
    {ledger_full,
     "the host ledger has room for 64 servers, and all places are taken; end some servers, or give some another "
     "runtime.directory"},
    {too_many_promises,
     "the host ledger has no room for more than 511 promises of this server: one for each task, and one for the "
     "platform load of each core. End some tasks, set limits.tasks lower, or, where no other server makes promises, "
     "set runtime.ledger = off"},
    {reply_needed,
     "the request came as a oneway, but the operation works with its reply alone; let the client send a request that "
     "expects a reply"},
    {tasks_in_circle,
     "the call was refused, because the called task waits for the calling one in another chain of calls, and neither "
     "would continue. Make the call without a contract, asynchronously, or before or after the job"},
    {bad_uri, "this is not a reference: expected IOR:HEX, corbaloc:ADDRESS/KEY, corbaname:ADDRESS#NAME or file://PATH"},
    {key_too_long,
     "the object key is too long for a request: limits.message_size must exceed it by 256 bytes or more; use a shorter "
     "object id or key, or raise limits.message_size on both sides"},
    {no_such_object, "no object with this key is active here"},
    {earlier_start,
     "the reference is of an earlier start of this server, or of another server that was reached at this address "
     "before; get a new reference, by name or from the server's output"},
    {no_such_adapter, "there is no object adapter with this name here"},
    {adapter_inactive, "the object adapter discards requests or is inactive"},
    {wrong_servant, "the servant is not active in this adapter"},
    {bad_option, "an option or configuration key is unknown or has a bad value"},
    {no_such_initial_reference, "there is no initial reference of this name"},
    {no_such_operation, "the interface has no such operation; the client's IDL may be newer"},
    {undeclared_exception, "the servant threw a user exception that its operation does not declare"},
    {servant_threw, "the servant threw something that is no CORBA exception; the server's log has its text"},
    {orb_destroyed, "the ORB was shut down or destroyed"},
    {version_mismatch, "the generated code was made for another version of the library; run corelane-idl again"},
    {system_refused, "the operating system refused a call; the log says which"},
    {out_of_memory,
     "the server has no memory left for the request; see ulimit -v, its cgroup's memory.max and limits.*"},
    {names_full,
     "the nameserver is full: it has as many names or contexts as naming.names and naming.contexts allow, or the "
     "context has 100,000 names. Unbind some, raise these settings there, or spread the names over more contexts"},
    {names_unavailable, "the nameserver's store does not answer, so nothing can be changed now; its log says why"},
    {forked,
     "this process was forked from one that has an ORB, whose threads and connections stayed there; fork before "
     "ORB_init, or let the child exec another program or end by _exit()"},
    {no_direct_call,
     "direct() cannot call this object without the object adapter; the exception's text says why. Call the object "
     "through its reference"},
};

// CORBA 3.3 part 1, A.5.
constexpr StandardEntry standard_table[] = {
    {ErrorKind::marshal,
     {no_value_factory, "there is no factory for this value type; register one with ORB::register_value_factory"}},
    {ErrorKind::marshal,
     {omg | 4,
      "a local object cannot be sent or written as text, because no other process could call it; send a reference to a "
      "servant"}},
    {ErrorKind::marshal,
     {omg | 5, "wchar and wstring do not exist in GIOP 1.0, which the other end speaks; use char and string"}},
    {ErrorKind::no_implement,
     {omg | 8, "a local object has no such operation: it belongs to no server, and has no repository to ask"}},
    {ErrorKind::bad_inv_order,
     {omg | 3,
      "the call would wait for itself: a servant or a handler must not wait until all requests have ended; use "
      "shutdown(false) or wait_for_completion = false there, or let another thread wait"}},
    {ErrorKind::data_conversion,
     {omg | 1,
      "a text has a character that the code set of the connection lacks, or bytes that are no character. Text travels "
      "as ISO 8859-1 to corbaloc addresses and to servers that use that code set: call through a reference that the "
      "server made, or let the server offer UTF-8 as its own"}},
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
     {omg | 23, "the client sent wchar or wstring, but named no code set for them on this connection"}},
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
