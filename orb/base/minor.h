// Defines every minor code that Corelane raises. Standard codes carry the OMG's vendor id, ours carry 0x434C4 ("CL"). A
// code of ours has one cause. A standard code has a different cause for each kind of exception. text() returns cause
// and remedy; docs/minor-codes.md is generated from the same tables.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "orb/base/error.h"

namespace corelane::minor {

inline constexpr std::uint32_t omg = 0x4f4d0000;
inline constexpr std::uint32_t corelane = 0x434c4000;
// A standard code (CORBA 3.3 part 1, A.5), for MARSHAL.
inline constexpr std::uint32_t no_value_factory = omg | 1;

struct Entry {
  std::uint32_t code;
  std::string_view text;  // cause; remedy
};
// A standard code.
struct StandardEntry {
  ErrorKind kind;
  Entry entry;
};

#define CORELANE_MINOR(name, value) inline constexpr std::uint32_t name = corelane + (value)
// Wire: MARSHAL, COMM_FAILURE, IMP_LIMIT.
CORELANE_MINOR(truncated, 1);
CORELANE_MINOR(bad_string, 2);
CORELANE_MINOR(bad_enum, 3);
CORELANE_MINOR(sequence_too_long, 5);
CORELANE_MINOR(bad_magic, 6);
CORELANE_MINOR(bad_version, 7);
CORELANE_MINOR(bad_message_type, 8);
CORELANE_MINOR(message_too_large, 9);
CORELANE_MINOR(bad_fragment, 10);
CORELANE_MINOR(too_many_items, 11);
CORELANE_MINOR(bad_ior, 12);
CORELANE_MINOR(bad_encapsulation, 13);
CORELANE_MINOR(too_deep, 14);
CORELANE_MINOR(trailing_bytes, 15);
CORELANE_MINOR(string_has_nul, 16);
CORELANE_MINOR(bound_exceeded, 17);
CORELANE_MINOR(nil_reference, 18);
CORELANE_MINOR(bad_fixed, 19);
CORELANE_MINOR(union_member, 20);
CORELANE_MINOR(bad_typecode, 21);
CORELANE_MINOR(bad_indirection, 22);
CORELANE_MINOR(too_many_nodes, 23);
CORELANE_MINOR(bad_value_tag, 24);
CORELANE_MINOR(no_member, 25);
CORELANE_MINOR(bad_map, 26);
CORELANE_MINOR(value_needs_giop_1_2, 27);
CORELANE_MINOR(wrong_value_type, 28);
CORELANE_MINOR(bad_value_state, 29);
CORELANE_MINOR(stream_closed, 30);
CORELANE_MINOR(not_utf_8, 31);
// Connections: COMM_FAILURE, TRANSIENT, TIMEOUT.
CORELANE_MINOR(connect_failed, 32);
CORELANE_MINOR(connection_lost, 33);
CORELANE_MINOR(no_usable_profile, 34);
CORELANE_MINOR(deadline_passed, 35);
CORELANE_MINOR(send_backlog, 36);
CORELANE_MINOR(peer_closed, 37);
CORELANE_MINOR(address_in_use, 39);
CORELANE_MINOR(bad_address, 40);
CORELANE_MINOR(message_error, 41);
CORELANE_MINOR(forward_loop, 42);
CORELANE_MINOR(idle_timeout, 43);
CORELANE_MINOR(closed_here, 44);
CORELANE_MINOR(listen_denied, 45);
CORELANE_MINOR(address_not_here, 46);
CORELANE_MINOR(half_messages, 47);
CORELANE_MINOR(rest_missing, 48);
CORELANE_MINOR(beyond_select, 49);
CORELANE_MINOR(chain_too_deep, 50);
CORELANE_MINOR(channel_spoiled, 51);
CORELANE_MINOR(send_stalled, 52);
CORELANE_MINOR(no_send_room, 53);
CORELANE_MINOR(send_backlogs, 54);
CORELANE_MINOR(too_many_contexts, 55);
// Admission and dispatch: NO_RESOURCES, TRANSIENT, BAD_PARAM.
CORELANE_MINOR(not_schedulable, 64);
CORELANE_MINOR(no_core_leased, 65);
CORELANE_MINOR(too_many_tasks, 66);
CORELANE_MINOR(queue_full, 67);
CORELANE_MINOR(bad_contract, 68);
CORELANE_MINOR(unknown_task, 69);
CORELANE_MINOR(shutting_down, 70);
CORELANE_MINOR(job_waiting, 71);
CORELANE_MINOR(analysis_limit, 72);
CORELANE_MINOR(core_unusable, 73);
CORELANE_MINOR(no_thread, 74);
CORELANE_MINOR(no_real_time, 75);
CORELANE_MINOR(admission_pending, 76);
CORELANE_MINOR(overrun_policy, 77);
CORELANE_MINOR(other_process_late, 78);
CORELANE_MINOR(connection_bound, 79);
CORELANE_MINOR(budget_spent, 80);
CORELANE_MINOR(ledger_busy, 81);
CORELANE_MINOR(ledger_unusable, 82);
CORELANE_MINOR(no_descriptor, 83);
CORELANE_MINOR(ledger_full, 84);
CORELANE_MINOR(tasks_in_circle, 85);
CORELANE_MINOR(too_many_promises, 87);
CORELANE_MINOR(reply_needed, 88);
// References, adapters, start-up: INV_OBJREF, OBJ_ADAPTER, OBJECT_NOT_EXIST, INITIALIZE, BAD_INV_ORDER.
CORELANE_MINOR(bad_uri, 96);
CORELANE_MINOR(no_such_object, 97);
CORELANE_MINOR(no_such_adapter, 98);
CORELANE_MINOR(adapter_inactive, 99);
CORELANE_MINOR(wrong_servant, 100);
CORELANE_MINOR(bad_option, 101);
CORELANE_MINOR(no_such_initial_reference, 102);
CORELANE_MINOR(no_such_operation, 103);
CORELANE_MINOR(undeclared_exception, 104);
CORELANE_MINOR(servant_threw, 105);
CORELANE_MINOR(orb_destroyed, 106);
CORELANE_MINOR(version_mismatch, 107);
CORELANE_MINOR(system_refused, 108);
CORELANE_MINOR(out_of_memory, 109);
// The nameserver: IMP_LIMIT, TRANSIENT.
CORELANE_MINOR(names_full, 110);
CORELANE_MINOR(names_unavailable, 111);
// The ORB's functions in a child of fork(): BAD_INV_ORDER.
CORELANE_MINOR(forked, 112);
// Direct calls (orb/poa/direct.h): BAD_PARAM.
CORELANE_MINOR(no_direct_call, 113);
// References of servers that have ended: OBJECT_NOT_EXIST.
CORELANE_MINOR(earlier_start, 115);
// Names of hosts: TRANSIENT.
CORELANE_MINOR(unknown_host, 116);
CORELANE_MINOR(no_name_service, 117);
// Values: BAD_PARAM, MARSHAL.
CORELANE_MINOR(empty_external, 118);
CORELANE_MINOR(too_many_empty, 119);
// References: BAD_PARAM.
CORELANE_MINOR(key_too_long, 120);
#undef CORELANE_MINOR

// Returns cause and remedy of a code of ours; empty for any other. Any thread; static storage.
std::string_view text(std::uint32_t code) noexcept;
// Returns the same for our codes and for the standard codes that we raise.
std::string_view text(const Error& error) noexcept;

// Returns the standard codes that we raise, except those that carry a specific text each time.
std::span<const StandardEntry> standard() noexcept;

}  // namespace corelane::minor
