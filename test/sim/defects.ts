/** Planted defects: each spoils one part, and the checks must find each. */
export const defects = {
  acksEarly: 'the store acknowledges a batch that is in memory only',
  lastWins: 'the last write of a bar wins, also with a smaller revision',
  hidesLoss: 'the bus reports no losses to its followers',
  recentKeeps: 'a shard keeps its cached bars of a symbol after the bus lost bars of it',
  emptyRefill: 'a shard that fills a hole reads an empty answer from the store',
  shortReplay: 'a replay omits its first bar',
  spoolForgets: 'the spool acknowledges batches without writing them',
  ownLimits: 'every pod counts requests separately',
  overCap: 'a slot is granted although the cap is reached',
  renewsNothing: 'a shard does not renew the slots of its sockets',
  slotsStay: 'the slots of an ended shard never lapse',
  emptyWhenUnavailable: 'a pod answers `no_data` while the store is unavailable',
} as const

export type Defect = keyof typeof defects
