/**
 * Connections to QuestDB's PostgreSQL port that one process opens at most, by what the process is. The server
 * takes 64 by default, and the 65th waits without a word. A third pool of one connection tells what became of writes.
 */
const counts = {
  all: { reads: 16, backfill: 4 },
  rest: { reads: 16, backfill: 1 },
  ingest: { reads: 4, backfill: 4 },
  stream: { reads: 4, backfill: 1 },
} as const
const progressConnections = 1

/** A process that uses the store. */
export type StoreUser = keyof typeof counts
export const storeUsers = Object.keys(counts) as readonly StoreUser[]

export const readConnectionsOf = (user: StoreUser): number => counts[user].reads
export const backfillConnectionsOf = (user: StoreUser): number => counts[user].backfill
export const connectionsOf = (user: StoreUser): number =>
  counts[user].reads + counts[user].backfill + progressConnections
