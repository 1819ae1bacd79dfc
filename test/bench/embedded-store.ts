import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allocateBars, type Bars, barCount, sliceBars } from '../../services/core/bars/bar.ts'
import type { Series } from '../../services/core/bars/series.ts'
import { feedSeconds } from '../../services/core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../services/core/feeds/compound-key.ts'
import { silentLog } from '../../services/platform/log/log.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import type { Stores } from '../../services/ports/stores.ts'
import { openEmbeddedStores } from '../../services/stores/embedded/open.ts'

/** Measures only the embedded store: `bin/node test/bench/embedded-store.ts [bars]`. */
const barsStored = Number(process.argv[2] ?? 5_000_000)
const barsPerSeries = 100_000
const barsPerWrite = 5_000
const writesAtOnce = 4
const forever = { from: feedSeconds(0), to: feedSeconds(2 ** 33) }
const feed = feedKey('BROKERA', 'ZERO')

const seriesAt = (i: number): Series => ({ feed, symbol: compoundKey(feed, `SYM${i}`), resolution: '1' })

function randomWalk(count: number, revision: number): Bars {
  const bars = allocateBars(count)
  let price = 1.1
  for (let i = 0; i < count; i++) {
    price += (Math.random() - 0.5) / 1_000
    bars.time[i] = 1_700_000_040 + i * 60
    bars.open[i] = price
    bars.high[i] = price + 0.0004
    bars.low[i] = price - 0.0004
    bars.close[i] = price + 0.0001
    bars.volume[i] = 1 + (i % 500)
    bars.revision[i] = revision + i
  }
  return bars
}

async function fill(stores: Stores, series: Series, bars: Bars): Promise<void> {
  let next = 0
  const writer = async (): Promise<void> => {
    while (next < barCount(bars)) {
      const start = next
      next += barsPerWrite
      const piece = sliceBars(bars, start, Math.min(next, barCount(bars)))
      await stores.bars.write([{ series, bars: piece }], 'backfill')
    }
  }
  await Promise.all(Array.from({ length: writesAtOnce }, writer))
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

async function quantiles(times: number, run: (i: number) => Promise<unknown>): Promise<string> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push(await timed(() => run(i)))
  all.sort((a, b) => a - b)
  const at = (q: number) => all[Math.min(all.length - 1, Math.floor(q * all.length))]!.toFixed(2)
  return `median ${at(0.5)} ms, best ${at(0)} ms, p95 ${at(0.95)} ms`
}

const report = (what: string, figure: string): void => console.log(`${what.padEnd(46)}${figure}`)
const perSecond = (count: number, ms: number): string =>
  `${Math.round(count / (ms / 1_000)).toLocaleString('en')} bars/s`

async function measure(folder: string): Promise<void> {
  const open = () => openEmbeddedStores({ folder, clock: systemClock, log: silentLog })
  let stores = await open()
  const seriesCount = Math.ceil(barsStored / barsPerSeries)
  const bars = randomWalk(barsPerSeries, 1)
  const writeMs = await timed(async () => {
    for (let i = 0; i < seriesCount; i++) await fill(stores, seriesAt(i), bars)
  })
  report(
    `write ${seriesCount * barsPerSeries} bars, empty series`,
    perSecond(seriesCount * barsPerSeries, writeMs),
  )
  const again = await timed(() => fill(stores, seriesAt(0), randomWalk(barsPerSeries, 2)))
  report('write, every bar a greater revision', perSecond(barsPerSeries, again))
  const same = await timed(() => fill(stores, seriesAt(0), bars))
  report('write, every bar a smaller revision', perSecond(barsPerSeries, same))

  const minute = Array.from({ length: 1_622 }, (_, i) => ({
    series: seriesAt(i),
    bars: randomWalk(1, 10 ** 9),
  }))
  report('live minute of 1,622 series', await quantiles(20, () => stores.bars.write(minute, 'live')))
  let filling = true
  const behind = fill(stores, seriesAt(seriesCount), randomWalk(barsPerSeries * 5, 1)).finally(
    () => (filling = false),
  )
  report('live minute beside a full backfill', await quantiles(20, () => stores.bars.write(minute, 'live')))
  report('10,000 bars, newest first, beside it', await quantiles(20, (i) => newest(stores, i % seriesCount)))
  if (!filling) report('', 'the backfill ended before it was measured')
  await behind

  const readMs = await timed(() => stores.bars.read({ series: seriesAt(1), ...forever }))
  report(`compare read of ${barsPerSeries} bars`, perSecond(barsPerSeries, readMs))
  report('10,000 bars, newest first', await quantiles(200, (i) => newest(stores, i % seriesCount)))
  report('1 bar, newest first', await quantiles(200, (i) => newest(stores, i % seriesCount, 1)))
  report('last times of the feed', await quantiles(20, () => stores.bars.lastTimes(feed)))
  const closeMs = await timed(() => stores.close())
  report(
    'close',
    `${closeMs.toFixed(0)} ms, file ${Math.round(statSync(join(folder, 'fxd.db')).size / 2 ** 20)} MiB`,
  )
  report(
    'open and last times',
    `${(
      await timed(async () => {
        stores = await open()
        await stores.bars.lastTimes(feed)
      })
    ).toFixed(0)} ms`,
  )
  report('resident memory', `${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`)
  report(
    'purge of the feed, until it is hidden',
    `${(await timed(() => stores.bars.purge(feed))).toFixed(0)} ms`,
  )
  await stores.close()
}

const newest = (stores: Stores, i: number, count = 10_000): Promise<Bars> =>
  stores.bars.read({ series: seriesAt(i), ...forever, take: { count, end: 'newest' } })

const folder = mkdtempSync(join(tmpdir(), 'fxd-bench-'))
try {
  await measure(folder)
} finally {
  rmSync(folder, { recursive: true })
}
