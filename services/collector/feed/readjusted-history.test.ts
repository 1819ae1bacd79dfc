import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CollectorFixture, day } from '../../../test/support/fixtures/collector-fixture.ts'
import { testToken } from '../../../test/support/fixtures/ingest-fixture.ts'
import { FakeTerminal, fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { type Bars, barsOf, toList } from '../../core/bars/bar.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { silentLog } from '../../platform/log/log.ts'
import { registryClient } from '../../wire/unary-client.ts'
import type { SourceSeries } from '../source.ts'
import { createMt5Csv } from '../sources/mt5-csv/mt5-csv.ts'

const suite = new CollectorFixture({
  resolutions: ['1D', '1W'],
  depth: { '1D': '400d', '1W': '400d' },
})
/** Timeout for a busy machine. */
const patient = { timeout: 8_000 }
const weeks = 10

/** The last real daily closes of a share. Before its split they were twice as high. */
const closes = readFileSync(join(import.meta.dirname, '../../../test/data/GOOGL_D1.csv'), 'utf8')
  .split('\r\n')
  .slice(1)
  .flatMap((line) => (line === '' ? [] : [Number(line.split('\t')[4])]))
  .slice(-300)

/** A terminal with 300 days and 10 weeks of each symbol; the latter are too few to show a ratio. */
class Shares extends FakeTerminal {
  /** By symbol: what the terminal multiplies the price of a day with; by default 2. */
  readonly factors = new Map<string, (day: number) => number>()

  constructor(raws: readonly string[], reads: 'pieces' | 'whole') {
    const symbols = raws.map((raw) => ({ ...fakeSymbol(raw, ['1D', '1W']), digits: 2 }))
    const now = () => Math.floor(suite.clock.utcMs() / 1_000)
    super(symbols, now, { rereadable: true, reads, live: true, readjusts: true })
    this.read = async function* (series, span) {
      this.reads.push({ ...series, span })
      const [from, to] = span.from > 0 ? [span.from, span.to] : [midnight(-closes.length), midnight(0)]
      yield {
        bars: this.bar(series, { from, to }),
        complete: { from, to: feedSeconds(Math.min(to, midnight(0))) },
      }
    }
  }

  bar({ raw, resolution }: SourceSeries, { from, to }: Span): Bars {
    const factor = this.factors.get(raw) ?? (() => 2)
    const all = closes.map((close, i) => {
      const price = Number((close * factor(i)).toFixed(2))
      const time = midnight(i - closes.length)
      return { time, open: price, high: price, low: price, close: price, volume: 1 }
    })
    const own = resolution === '1D' ? all : all.filter((_, i) => i % 7 === 0).slice(-weeks - 1, -1)
    return barsOf(own.filter(({ time }) => time >= from && time < to))
  }
}

const midnight = (days: number) => feedSeconds((Math.floor(suite.noon / day) + days) * day)
const all = { from: feedSeconds(0), to: feedSeconds(1e10) }
const stored = async (raw: string, resolution: '1D' | '1W'): Promise<number[]> => {
  const series = { feed: suite.feed.key, symbol: compoundKey(suite.feed.key, raw), resolution }
  return toList(await suite.fixture.stores.bars.read({ series, ...all })).map(({ close }) => close)
}
const given = (source: Shares, raw: string, resolution: '1D' | '1W'): number[] => [
  ...source.bar({ raw, resolution }, all).close,
]
const shown = async () => {
  const client = registryClient(suite.fixture.address, { token: testToken })
  return client.call('GetFeed', { key: suite.feed.key }).finally(() => client.close())
}
const backfill = async (): Promise<void> => {
  const client = registryClient(suite.fixture.address, { token: testToken })
  const request = { feed: suite.feed.key, symbol: 'GOOGL', from: midnight(-9), to: midnight(-8) }
  await client.call('Backfill', request).finally(() => client.close())
}

/** Collects the history of all symbols as it was before. */
async function collected(raws: readonly string[], reads: 'pieces' | 'whole'): Promise<Shares> {
  const source = new Shares(raws, reads)
  suite.collect(source)
  for (const raw of raws)
    for (const r of ['1D', '1W'] as const)
      await expect.poll(() => stored(raw, r), patient).toEqual(given(source, raw, r))
  await expect
    .poll(async () => (await suite.windows()).length, patient)
    .toBeGreaterThanOrEqual(2 * raws.length)
  return source
}

/** A new start of the collector, as a source that is read as a whole is compared at its start. */
async function restart(source: Shares): Promise<void> {
  await suite.stopInTime()
  suite.collect(source)
}

describe.each(['pieces', 'whole'] as const)('history of a source that is read in %s', (reads) => {
  const look = (source: Shares) => (reads === 'whole' ? restart(source) : suite.clock.advance(10_000))

  test('is read again at all resolutions after a split, and its windows stay', async () => {
    const source = await collected(['GOOGL', 'AMZN'], reads)
    const windows = await suite.windows()
    source.factors.set('GOOGL', () => 1)
    await look(source)
    for (const r of ['1D', '1W'] as const)
      await expect.poll(() => stored('GOOGL', r), patient).toEqual(given(source, 'GOOGL', r))
    expect(await suite.windows()).toEqual(windows)
    await suite.clock.advance(5_000)
    await expect.poll(shown, patient).toMatchObject({ readjustedSymbols: 1, readjustmentsHeld: false })
  })

  test('is not read again after corrections of fewer bars', async () => {
    const source = await collected(['GOOGL'], reads)
    const before = await stored('GOOGL', '1D')
    // Every tenth day is another one: at most 20 of 200, of which the ratios differ.
    source.factors.set('GOOGL', (at) => (at % 10 === 0 ? 1 + at / 1_000 : 2))
    await look(source)
    const corrected = async (): Promise<number> =>
      (await stored('GOOGL', '1D')).filter((close, i) => close !== before[i]).length
    await expect.poll(corrected, patient).toBeGreaterThanOrEqual(19)
    await suite.clock.advance(15_000)
    expect(await corrected()).toBeLessThanOrEqual(20)
    expect(await shown()).toMatchObject({ readjustedSymbols: 0 })
  })

  test('is held with an alarm when too many symbols changed in a day, until a backfill', async () => {
    const alarms = () => suite.fixture.metrics.total('fxd_ingest_alarms_total', { kind: 'readjusted' })
    const before = await alarms()
    const source = await collected(['GOOGL', 'AMZN'], reads)
    source.factors.set('GOOGL', () => 1)
    source.factors.set('AMZN', () => 1)
    await look(source)
    await expect
      .poll(async () => (await suite.clock.advance(5_000), shown()), patient)
      .toMatchObject({
        readjustedSymbols: 2,
        readjustmentsHeld: true,
      })
    expect((await alarms()) - before).toBe(1)
    await backfill()
    await expect
      .poll(async () => (await suite.clock.advance(5_000), shown()), patient)
      .toMatchObject({
        readjustedSymbols: 2,
        readjustmentsHeld: false,
      })
  })
})

test('a file of a share that was exported again after a split, while the collector was stopped, is read again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-split-'))
  const after = readFileSync(join(import.meta.dirname, '../../../test/data/GOOGL_D1.csv'), 'utf8')
  const before = after.replaceAll(
    /\t(\d+\.\d+)/g,
    (_, price: string) => `\t${(Number(price) * 2).toFixed(2)}`,
  )
  const start = () => {
    const { clock, feed: definition } = suite
    suite.collect(createMt5Csv({ definition, path: folder, follow: true, clock, log: silentLog }))
  }
  const oldest = async () => [(await stored('GOOGL', '1D')).length, (await stored('GOOGL', '1D'))[0]]
  writeFileSync(join(folder, 'GOOGL_D1.csv'), before)
  start()
  await expect.poll(oldest, patient).toEqual([2_335, 393.9])
  await expect.poll(async () => (await suite.windows()).length, patient).toBe(1)
  await suite.stopInTime()
  writeFileSync(join(folder, 'GOOGL_D1.csv'), after)
  start()
  await expect.poll(oldest, patient).toEqual([2_335, 196.95])
  rmSync(folder, { recursive: true })
})
