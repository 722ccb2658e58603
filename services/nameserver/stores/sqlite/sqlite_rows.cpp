#include "services/nameserver/stores/sqlite/sqlite_rows.h"

#include "orb/base/text/counted.h"
#include "orb/os/log.h"

namespace corelane::nameserver {
namespace {

// Leaves out bound_by if it is NULL, as in rows of schema 2.
const std::string sum_of_binding =
    "CASE WHEN bound_by IS NULL THEN row_sum(context,id,kind,type,reference,target,owner)"
    " ELSE row_sum(context,id,kind,type,reference,target,owner,bound_by) END";

// What is wrong with a row; NULL if nothing is.
const std::string complaint_of_context =
    "CASE WHEN id<=0 THEN 'its number is none'"
    " WHEN sum IS NOT NULL AND sum IS NOT row_sum(id) THEN 'its bytes are not those that a nameserver wrote'"
    " END";
const std::string complaint_of_binding =
    "CASE WHEN typeof(context)<>'integer' OR context<0 THEN 'its context is no number'"
    " WHEN typeof(id)<>'blob' OR typeof(kind)<>'blob' THEN 'its name is text and not bytes'"
    " WHEN typeof(type)<>'integer' OR type NOT IN (0,1) THEN 'its type is neither 0 nor 1'"
    " WHEN typeof(reference)<>'blob' OR typeof(owner)<>'blob' THEN 'its reference or owner is text and not bytes'"
    " WHEN typeof(target)<>'integer' OR target<0 THEN 'its target is no number'"
    " WHEN type=0 AND length(reference)=0 THEN 'its reference is empty'"
    " WHEN bound_by IS NOT NULL AND typeof(bound_by)<>'blob' THEN 'the client that bound it is text and not bytes'"
    " WHEN sum IS NOT NULL AND sum IS NOT (" +
    sum_of_binding +
    ") THEN 'its bytes are not those that a nameserver wrote'"
    " WHEN context<>0 AND context NOT IN (SELECT id FROM context) THEN 'its context is not there'"
    " END";

constexpr int most_told = 20;  // the most rows of a table that are logged, one a line

// A table with rows to move: how the log names a row, after the reason; and its columns in `quarantine`.
struct Table {
  const char* name;
  const std::string& complaint;
  const char* place;
  const char* columns;
};
const Table contexts{"context", complaint_of_context, "'context ' || quote(id)",
                     "id, NULL, NULL, NULL, NULL, NULL, NULL, NULL"};
const Table bindings{"binding", complaint_of_binding,
                     "'context ' || quote(context) || ', id ' || quote(CAST(id AS TEXT)) || ', kind ' || "
                     "quote(CAST(kind AS TEXT))",
                     "context, id, kind, type, reference, target, owner, bound_by"};

// Logs the rows that cannot be used. Returns how many there are.
Expected<std::size_t, SqliteFault> tell_strange_rows(Database& database, const std::string& path, const Table& table) {
  const std::string which = "SELECT why || ': ' || " + std::string(table.place) + " FROM (SELECT " + table.complaint +
                            " AS why, * FROM " + table.name + ") WHERE why IS NOT NULL";
  auto rows = database.prepare(which.c_str());
  if (!rows) return rows.error();
  std::size_t count = 0;
  auto row = rows->next();
  for (; row && *row; row = rows->next())
    if (++count <= most_told)
      os::log::warn("the name store " + path + " has a row of `" + table.name + "` that cannot be used, " +
                    rows->bytes(0));
  if (!row) return row.error();
  return count;
}

Expected<std::size_t, SqliteFault> set_aside(Database& database, const std::string& path, const Table& table) {
  const auto told = tell_strange_rows(database, path, table);
  if (!told || *told == 0) return told;
  const std::string move = "INSERT INTO quarantine SELECT * FROM (SELECT " + table.complaint + " AS why, " +
                           table.columns + " FROM " + table.name + ") WHERE why IS NOT NULL; DELETE FROM " +
                           table.name + " WHERE " + table.complaint + " IS NOT NULL;";
  if (const auto done = database.run(move.c_str()); !done) return done.error();
  return told;
}

// Restores a context's row if names with right sums are in the context, because then the context existed.
const std::string mend_contexts =
    "INSERT INTO context SELECT DISTINCT context, row_sum(context) FROM binding WHERE context>0 AND context NOT IN "
    "(SELECT id FROM context) AND sum IS (" +
    sum_of_binding + ")";

const std::string give_sums =
    "UPDATE context SET sum=row_sum(id) WHERE sum IS NULL;"
    "UPDATE binding SET sum=(" +
    sum_of_binding + ") WHERE sum IS NULL; COMMIT";

Expected<std::size_t, SqliteFault> set_all_aside(Database& database, const std::string& path) {
  if (const auto done = database.run("BEGIN IMMEDIATE"); !done) return done.error();
  const auto lost_contexts = set_aside(database, path, contexts);
  if (!lost_contexts) return lost_contexts.error();
  if (const auto done = database.run(mend_contexts.c_str()); !done) return done.error();
  const auto lost_bindings = set_aside(database, path, bindings);
  if (!lost_bindings) return lost_bindings.error();
  if (const auto done = database.run(give_sums.c_str()); !done) return done.error();
  return *lost_contexts + *lost_bindings;
}

}  // namespace

const char* const make_tables =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE context(id INTEGER PRIMARY KEY, sum INTEGER);"
    "CREATE TABLE binding(context INTEGER NOT NULL, id BLOB NOT NULL, kind BLOB NOT NULL, type INTEGER NOT NULL,"
    " reference BLOB NOT NULL, target INTEGER NOT NULL, owner BLOB NOT NULL, sum INTEGER, bound_by BLOB, PRIMARY "
    "KEY(context, id, kind)) WITHOUT ROWID;"
    "CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL, sum INTEGER) WITHOUT ROWID;"
    "CREATE TABLE quarantine(why TEXT, context, id, kind, type, reference, target, owner, bound_by);"
    "INSERT INTO counter VALUES('next context', 1, NULL), ('revision', 0, NULL);"
    "PRAGMA application_id=0x434c4e53;"
    "PRAGMA user_version=3;"
    "COMMIT;";

const char* const upgrade_schema_1 =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE context ADD COLUMN sum INTEGER;"
    "ALTER TABLE binding ADD COLUMN sum INTEGER;"
    "ALTER TABLE counter ADD COLUMN sum INTEGER;"
    "CREATE TABLE IF NOT EXISTS quarantine(why TEXT, context, id, kind, type, reference, target, owner);"
    "INSERT OR IGNORE INTO counter VALUES('next context', 1, NULL), ('revision', 0, NULL);"
    "PRAGMA user_version=2;"
    "COMMIT;";

const char* const upgrade_schema_2 =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE binding ADD COLUMN bound_by BLOB;"
    "ALTER TABLE quarantine ADD COLUMN bound_by;"
    "PRAGMA user_version=3;"
    "COMMIT;";

Expected<void, SqliteFault> define_row_sum(Database& database) { return database.define_sum("row_sum"); }

Expected<void, SqliteFault> set_strange_rows_aside(Database& database, const std::string& path) {
  const auto moved = set_all_aside(database, path);
  if (!moved) {
    if (const auto undone = database.run("ROLLBACK"); !undone) os::log::debug(undone.error().text);
    return moved.error();
  }
  const auto all = database.number("SELECT count(*) FROM quarantine");
  if (!all) return all.error();
  if (*all > 0)
    os::log::warn("the name store " + path + " has " + counted(*all, "row") + " in its table `quarantine`, " +
                  std::to_string(*moved) +
                  " of them moved there now. Those names are not found. Bind them again, or repair the rows and put "
                  "them back with sqlite3, as docs/stores.md says; then empty that table");
  return {};
}

Expected<std::optional<std::uint64_t>, SqliteFault> read_counter(Database& database, const char* name) {
  auto rows = database.prepare(
      "SELECT value FROM counter WHERE name=CAST(?1 AS TEXT) AND typeof(value)='integer' AND value>=0 AND (sum IS NULL "
      "OR sum IS row_sum(name, value))");
  if (!rows) return rows.error();
  const auto row = rows->bind(1, std::string_view(name)).next();
  if (!row) return row.error();
  return *row ? std::optional(rows->number(0)) : std::nullopt;
}

}  // namespace corelane::nameserver
