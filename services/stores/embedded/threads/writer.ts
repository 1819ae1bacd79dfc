import { workerData } from 'node:worker_threads'
import type { Window } from '../../../core/bars/window.ts'
import type { Withdrawal } from '../../../core/bars/withdrawal.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import type { Day } from '../../../core/keys/usage.ts'
import type { KeyDay } from '../../../ports/usage-days.ts'
import { windowPurge, windowUnion, windowWithdrawal } from '../file/acknowledged-rows.ts'
import { barPurge, barUpserts, purgedSweep } from '../file/bar-rows.ts'
import { openForWriting, transaction } from '../file/database.ts'
import {
  type MemoryRows,
  memoryUpserts,
  readMemoryRows,
  usagePrune,
  usageUnion,
} from '../file/memory-rows.ts'
import type { PackedRows } from '../file/packed-rows.ts'
import { type RegistryText, registryAppend } from '../file/registry-rows.ts'
import { serve } from './serve.ts'

const db = openForWriting((workerData as { path: string }).path)
const upsertBars = barUpserts(db)
const purgeBars = barPurge(db)
const sweep = purgedSweep(db)
const addWindow = windowUnion(db)
const withdraw = windowWithdrawal(db, addWindow)
const purgeWindows = windowPurge(db)
const append = registryAppend(db)
const remember = memoryUpserts(db)
const prune = usagePrune(db)
const addUsage = usageUnion(db)
const countOpening = db.prepare('UPDATE opening SET count = count + 1 RETURNING count')
const touch = db.prepare('UPDATE opening SET count = count')

/** The only writer of the file; after a call returned, its changes are on the disk. */
const calls = {
  /** First call of a start: returns the number of this opening of the file, and the stored state of memory. */
  begin: ({ firstDay }: { firstDay: Day }): { opening: number; rows: MemoryRows } =>
    transaction(db, () => ({
      opening: Number(countOpening.get()?.['count']),
      rows: readMemoryRows(db, firstDay),
    })),
  writeBars: (turn: readonly PackedRows[]): void => transaction(db, () => turn.forEach(upsertBars)),
  purgeBars: (feed: FeedKey): void => transaction(db, () => purgeBars(feed)),
  sweep: (rowsMax: number): boolean => transaction(db, () => sweep(rowsMax)),
  addWindows: (windows: readonly Window[]): void => transaction(db, () => windows.forEach(addWindow)),
  withdrawWindows: (of: Withdrawal): void => transaction(db, () => withdraw(of)),
  purgeWindows: (feed: FeedKey): void => transaction(db, () => purgeWindows(feed)),
  append: ({ basedOn, rows }: { basedOn: number; rows: readonly RegistryText[] }) =>
    transaction(db, () => append(basedOn, rows)),
  remember: ({ rows, usageFrom }: { rows: MemoryRows; usageFrom: Day | undefined }): void =>
    transaction(db, () => {
      remember(rows)
      if (usageFrom !== undefined) prune(usageFrom)
    }),
  addUsage: (days: readonly KeyDay[]): void => transaction(db, () => days.forEach(addUsage)),
  /** Writes without a change: shows whether a full disk accepts writes again. */
  probe: (_: undefined): void => transaction(db, () => void touch.run()),
  ping: (_: undefined): void => undefined,
  close: (_: undefined): void => db.close(),
}

export type WriterCalls = typeof calls

serve(calls)
