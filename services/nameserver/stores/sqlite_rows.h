// The rows of a SQLite name store that no nameserver has written as they are: bytes that have changed on the disk, or
// by somebody's hand, since SQLite keeps no sums of its pages. Each row has one, `sum`, of its other values; a row
// whose sum is NULL is taken as it is, if it can be a name at all, and gets one: so is a row of schema 1, which has no
// sums, and one that somebody has put in or right by hand. The tables are described in docs/stores.md. Threads: as
// Database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "services/nameserver/stores/sqlite_database.h"

namespace corelane::nameserver {

// The tables of the present schema, 3, in an empty database; and what makes schema 2 of 1 and schema 3 of 2.
extern const char* const make_tables;
extern const char* const upgrade_schema_1;
extern const char* const upgrade_schema_2;

// Before anything else: the SQL function row_sum(), which the statements here and those that write rows use.
Expected<void, SqliteFault> define_row_sum(Database& database);

// Keeps them in the table `quarantine`, so that nothing is lost and no name comes of them, and tells the log of each;
// then gives the others their sums. `path`: the file, for the log.
Expected<void, SqliteFault> set_strange_rows_aside(Database& database, const std::string& path);

// Nothing: it is not there, or not as a nameserver wrote it.
Expected<std::optional<std::uint64_t>, SqliteFault> read_counter(Database& database, const char* name);

}  // namespace corelane::nameserver
