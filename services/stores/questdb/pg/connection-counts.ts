/**
 * Maximum connections to QuestDB's PostgreSQL port per process, by what the process is. The server accepts 64 by
 * default, and a further connection waits without an error. `queries` are questions about the server itself: a process
 * that writes sends them over HTTP.
 */
const counts = {
  all: { reads: 16, backfill: 4, queries: 0 },
  rest: { reads: 16, backfill: 1, queries: 1 },
  ingest: { reads: 4, backfill: 4, queries: 0 },
  stream: { reads: 3, backfill: 1, queries: 1 },
} as const
/** Reads the progress of writes, and which tables are suspended. */
const progressConnections = 1

export type StoreUser = keyof typeof counts
export const storeUsers = Object.keys(counts) as readonly StoreUser[]

export const readConnectionsOf = (user: StoreUser): number => counts[user].reads
export const backfillConnectionsOf = (user: StoreUser): number => counts[user].backfill
export const connectionsOf = (user: StoreUser): number =>
  counts[user].reads + counts[user].backfill + counts[user].queries + progressConnections
/** Whether it changes QuestDB. For the others a read-only user is enough. */
export const isWriter = (user: StoreUser): boolean => counts[user].queries === 0
