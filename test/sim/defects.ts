/** Planted bugs: each spoils one part, and the checkers must find each. */
export const defects = {
  acksEarly: 'the store says that a batch is committed while it waits in memory',
  lastWins: 'the last write of a bar wins, whatever its revision',
  neverTellsLoss: 'the bus does not tell its followers what they lost',
  recentKeeps: 'a shard goes on with what it remembers of a symbol after the bus lost bars of it',
  emptyRefill: 'a shard finds nothing in the store when it fills a hole',
  shortReplay: 'a replay leaves out its first bar',
  spoolForgets: 'the spool says that a batch is on the disk and writes nothing',
  ownLimits: 'every pod counts requests for itself',
  overCap: 'a slot is given when as many are open as the cap allows',
  renewsNothing: 'a shard does not renew the slots of its sockets',
  slotsStay: 'slots of a dead shard are never free again',
  emptyWhenAway: 'a pod says that there is no data while the store is away',
} as const

export type Defect = keyof typeof defects
