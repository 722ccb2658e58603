// Functions that find rows of a SQLite name store that no nameserver wrote as they are. Their bytes were changed on the
// disk or by hand; SQLite has no checksums of its pages. Each row has a column `sum`, the sum of its other values.
//
// If a row's sum is NULL, the row is accepted if it can be a name at all, and gets a sum. Rows of schema 1 have no
// sums, and rows that were added or repaired by hand can leave them out. docs/stores.md describes the tables.
// Threads: as Database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "services/nameserver/stores/sqlite/sqlite_database.h"

namespace corelane::nameserver {

// SQL statements: they make the tables of the present schema, 3, in an empty database; upgrade schema 1 to 2; and
// upgrade schema 2 to 3.
extern const char* const make_tables;
extern const char* const upgrade_schema_1;
extern const char* const upgrade_schema_2;

// Defines the SQL function row_sum(), which the statements here and those that write rows use. Call it first.
Expected<void, SqliteFault> define_row_sum(Database& database);

// Moves such rows to the table `quarantine`, so that nothing is lost and they are not used as names. Logs each of them.
// Then gives the other rows their sums. `path` is the file, for the log.
Expected<void, SqliteFault> set_strange_rows_aside(Database& database, const std::string& path);

// Returns nothing if the counter does not exist, or is not as a nameserver wrote it.
Expected<std::optional<std::uint64_t>, SqliteFault> read_counter(Database& database, const char* name);

}  // namespace corelane::nameserver
