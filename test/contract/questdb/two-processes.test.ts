import { describe, expect, test } from 'vitest'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type { BarStore } from '../../../services/ports/bars.ts'
import { effort } from '../../support/effort.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import {
  batchOf,
  freshFeed,
  freshSeries,
  minuteBar,
  minuteBars,
  readList,
  seriesOf,
} from '../suites/sample-bars.ts'

const server = oneServer()
const h1 = (prefix: string): string => `${prefix}bars_brokera_zero_h1`
const untilServed = { timeout: 150_000, interval: 50 }

describe('tables that another process removed', () => {
  test('and refilled by one process contain no rows that another process sent to the old tables, nor are those acknowledged', async () => {
    const { stores: a, prefix } = await openInTest(server())
    const { stores: b } = await openInTest(server(), { prefix })
    const series = freshSeries('60')
    const attempts: { outcome: string; isCommitted: boolean }[] = []
    const untilStored = async (bars: BarStore, minute: number): Promise<void> => {
      const write = async (): Promise<string> => {
        let isCommitted = false
        const onCommitted = (): void => void (isCommitted = true)
        const outcome = await bars
          .write([batchOf(series, [minuteBar(minute)])], 'live', { onCommitted })
          .then(
            () => 'stored',
            () => 'failed',
          )
        attempts.push({ outcome, isCommitted })
        return outcome
      }
      await expect.poll(write, untilServed).toBe('stored')
    }
    await untilStored(a.bars, 0)
    await untilStored(b.bars, 1)
    await server().exec(`DROP TABLE ${h1(prefix)}`)
    await a.tables.refill(h1(prefix))
    await untilStored(a.bars, 2)
    await untilStored(b.bars, 3)
    expect(await readList(a.bars, series)).toEqual(minuteBars(2, 4))
    expect(attempts.filter(({ outcome, isCommitted }) => isCommitted !== (outcome === 'stored'))).toEqual([])
  })
})

describe('two processes on one QuestDB', () => {
  test('exactly one of two registry changes based on one version is stored, and both processes read that one', async () => {
    const { stores: a, prefix } = await openInTest(server())
    const { stores: b } = await openInTest(server(), { prefix })
    let version = 0
    for (let round = 0; round < 20; round++) {
      const rows = (who: string, count: number) =>
        Array.from({ length: count }, (_, i) => ({
          kind: 'key' as const,
          id: `${who} ${round} ${i}`,
          body: { id: who } as never,
        }))
      const outcomes = await Promise.all([
        a.registry.append(version, rows('a', 1 + (round % 3))),
        b.registry.append(version, rows('b', 1 + ((round + 1) % 3))),
      ])
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['conflict', 'stored'])
      const after = version
      for (const outcome of outcomes) if (outcome.outcome === 'stored') version = outcome.version
      const winner = outcomes[0].outcome === 'stored' ? 'a' : 'b'
      for (const { registry } of [a, b]) {
        const seen = await registry.since(after)
        expect(seen.map((row) => row.version)).toEqual(seen.map((_, i) => after + 1 + i))
        expect(seen.at(-1)?.version).toBe(version)
        expect(seen.every(({ id }) => id.startsWith(`${winner} ${round}`))).toBe(true)
      }
    }
  })

  test('the windows of both are one union, also after one process purged them', async () => {
    const { stores: a, prefix } = await openInTest(server())
    const { stores: b } = await openInTest(server(), { prefix })
    const feed = freshFeed()
    const span = (from: number, to: number) => [
      { feed, symbol: undefined, resolution: '1' as const, from: feedSeconds(from), to: feedSeconds(to) },
    ]
    await a.windows.add(span(0, 600))
    await b.windows.add(span(0, 60))
    await b.windows.add(span(600, 660))
    expect(await a.windows.of(feed)).toEqual(span(0, 660))
    await a.windows.purge(feed)
    expect(await b.windows.of(feed)).toEqual([])
    await b.windows.add(span(660, 720))
    expect(await a.windows.of(feed)).toEqual(span(660, 720))
  })

  test('a read right after a purge shows no bar and no window of the feed while the server is busy', async () => {
    const { stores: a, prefix } = await openInTest(server())
    const { stores: b } = await openInTest(server(), { prefix })
    const busy = [`busy1_${prefix}`, `busy2_${prefix}`]
    for (const table of busy)
      await server().exec(`
        CREATE TABLE ${table} (ts TIMESTAMP, sym SYMBOL) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, sym)`)
    const series = seriesOf('A', '1', freshFeed())
    const window = { feed: series.feed, symbol: undefined, resolution: '1' as const }
    const shown: string[] = []
    for (let round = 0; round < 5 * effort; round++) {
      await a.bars.write([batchOf(series, minuteBars(round, round + 10))], 'live')
      await a.windows.add([{ ...window, from: feedSeconds(0), to: feedSeconds(60) }])
      // Each keeps one of the server's two writers busy while the purge is queued.
      for (const table of busy)
        await server().exec(`
          INSERT INTO ${table} SELECT (rnd_long(0, 432000, 0) * 1000000)::timestamp, rnd_symbol('A', 'B')
          FROM long_sequence(200000)`)
      await Promise.all([a.bars.purge(series.feed), a.windows.purge(series.feed)])
      for (const stores of [a, b]) {
        if ((await stores.windows.of(series.feed)).length > 0) shown.push(`windows in round ${round}`)
        if ((await readList(stores.bars, series)).length > 0) shown.push(`bars in round ${round}`)
      }
    }
    expect(shown).toEqual([])
  })

  test('a window that grows every minute is stored as one row', async () => {
    const { stores, prefix } = await openInTest(server())
    const feed = freshFeed()
    for (let at = 0; at < 20 * 60; at += 60)
      await stores.windows.add([
        { feed, symbol: undefined, resolution: '1', from: feedSeconds(at), to: feedSeconds(at + 60) },
      ])
    const table = `${prefix}windows_${feed.toLowerCase().replace(':', '_')}`
    expect(await server().exec(`SELECT start, stop FROM ${table}`)).toEqual([[0, 1_200]])
  })
})
