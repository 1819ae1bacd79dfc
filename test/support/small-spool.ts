import type { SpoolFolder } from '../../services/collector/spool/folder.ts'
import type { SpooledSeries } from '../../services/collector/spool/record.ts'
import { openSpool, type Spool, type SpoolDeps } from '../../services/collector/spool/spool.ts'
import { barsOf } from '../../services/core/bar.ts'
import { feedSeconds } from '../../services/core/feed-clock.ts'
import { silentLog } from '../../services/platform/log/log.ts'
import { encodeSeriesBars } from '../../services/wire/encode-bars.ts'
import { spoolBounds } from './spool-bounds.ts'
import { createVirtualClock } from './virtual-clock.ts'

/** One bar of one series, told from others by its time. */
export function batch(time: number, symbol = 'EURUSD'): [SpooledSeries] {
  const bars = barsOf([
    { time: feedSeconds(time), open: 1, high: 1, low: 1, close: 1, volume: time, revision: 7 },
  ])
  const encoded = encodeSeriesBars({ symbol, resolution: '1', scale: 5 }, bars)
  return [{ symbol, resolution: '1', first: feedSeconds(time), last: feedSeconds(time), count: 1, encoded }]
}

export const open = (folder: SpoolFolder, more: Partial<SpoolDeps> = {}): Promise<Spool> =>
  openSpool({ folder, clock: createVirtualClock(), log: silentLog, ...spoolBounds, ...more })

export async function timesIn(spool: Spool): Promise<number[]> {
  const records = await Promise.all(spool.ids.map((id) => spool.read(id)))
  return records.flatMap((record) => record?.series.map(({ first }) => Number(first)) ?? [])
}
