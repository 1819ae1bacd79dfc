import { DatabaseSync } from 'node:sqlite'
import { counterNames } from '../../../core/keys/usage.ts'

/** Increased with every change of the tables below. */
export const schemaVersion = 1

const tables = `
  CREATE TABLE series (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    feed TEXT NOT NULL, symbol TEXT NOT NULL, resolution TEXT NOT NULL,
    UNIQUE (feed, symbol, resolution)
  ) STRICT;
  CREATE TABLE bar (
    series INTEGER NOT NULL, time INTEGER NOT NULL, revision INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (series, time)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE purged (series INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE acknowledged (
    feed TEXT NOT NULL, symbol TEXT NOT NULL, resolution TEXT NOT NULL,
    start INTEGER NOT NULL, stop INTEGER NOT NULL,
    PRIMARY KEY (feed, symbol, resolution, start)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE registry (
    version INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE TABLE usage (
    key TEXT NOT NULL, day TEXT NOT NULL,
    ${counterNames.map((name) => `${name} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (key, day)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_by_day ON usage (day);
  CREATE TABLE rate_use (
    key TEXT PRIMARY KEY, minute INTEGER NOT NULL, used_minute INTEGER NOT NULL,
    day INTEGER NOT NULL, used_day INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE feed_sign (
    feed TEXT PRIMARY KEY,
    received_at INTEGER, newest_bar INTEGER, heartbeat_at INTEGER, newest_tick INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE opening (count INTEGER NOT NULL) STRICT;
  INSERT INTO opening VALUES (0);
`

const cacheKib = 16_384
/** Pages in the log before a commit moves them to the file. A larger number copies fewer pages twice in an import. */
const checkpointPages = 4_000
const logBytesKept = 64 * 1024 * 1024
/** Only the recovery after a crash makes one connection wait for another. */
const busyTimeoutMs = 5_000

/** Opens the file for the only writer and creates or checks its tables; an error names the file. */
export function openForWriting(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs })
  try {
    db.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -${cacheKib}; PRAGMA wal_autocheckpoint = ${checkpointPages};
      PRAGMA journal_size_limit = ${logBytesKept};
    `)
    makeOrCheckTables(db)
    return db
  } catch (cause) {
    db.close()
    throw new Error(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** Whether the file has no tables: the first start has not made them yet, or was killed before. */
export const isNew = (db: DatabaseSync): boolean =>
  numberOf(db, 'PRAGMA user_version') === 0 && numberOf(db, 'SELECT count(*) FROM sqlite_schema') === 0

function makeOrCheckTables(db: DatabaseSync): void {
  const version = numberOf(db, 'PRAGMA user_version')
  if (version === schemaVersion) return
  if (!isNew(db)) {
    throw new Error(
      `the schema version is ${version}, this fxd reads ${schemaVersion} only. Run the fxd that wrote it, or set FXD_DATA_DIR to another folder.`,
    )
  }
  transaction(db, () => db.exec(`${tables} PRAGMA user_version = ${schemaVersion};`))
}

export function openForReading(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs })
  db.exec(`PRAGMA temp_store = MEMORY; PRAGMA cache_size = -${cacheKib};`)
  return db
}

export function transaction<T>(db: DatabaseSync, run: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = run()
    db.exec('COMMIT')
    return result
  } catch (cause) {
    // A full disk may have rolled back already.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw cause
  }
}

/** Runs all statements of `run` on one state of the file. */
export function snapshot<T>(db: DatabaseSync, run: () => T): T {
  db.exec('BEGIN')
  try {
    return run()
  } finally {
    db.exec('COMMIT')
  }
}

const numberOf = (db: DatabaseSync, sql: string): number =>
  Number(Object.values(db.prepare(sql).get() ?? {})[0])
