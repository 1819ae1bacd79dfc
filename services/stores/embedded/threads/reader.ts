import { workerData } from 'node:worker_threads'
import type { Series } from '../../../core/bars/series.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import type { Day } from '../../../core/keys/usage.ts'
import type { BarQuery } from '../../../ports/bars.ts'
import { windowReads } from '../file/acknowledged-rows.ts'
import { barReads, newestTimes, spanBounds } from '../file/bar-rows.ts'
import { openForReading, snapshot } from '../file/database.ts'
import { usageReads } from '../file/memory-rows.ts'
import { registrySince } from '../file/registry-rows.ts'
import { serve } from './serve.ts'

const db = openForReading((workerData as { path: string }).path)
const readBars = barReads(db)
const bounds = spanBounds(db)
const usage = usageReads(db)

const calls = {
  readBars: (query: BarQuery) => snapshot(db, () => readBars(query)),
  newestTimes: newestTimes(db) satisfies (feed: FeedKey) => unknown,
  bounds: ({ series, spans }: { series: Series; spans: Float64Array }) =>
    snapshot(db, () => bounds(series, spans)),
  windows: windowReads(db),
  registrySince: registrySince(db),
  usage: ({ keyId, first, last }: { keyId: string; first: Day; last: Day }) => usage(keyId, first, last),
  ping: (_: undefined): void => undefined,
}

export type ReaderCalls = typeof calls

serve(calls)
