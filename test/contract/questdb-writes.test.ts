import { describe, expect, test } from 'vitest'
import { Unavailable } from '../../services/core/failure.ts'
import { feedSeconds } from '../../services/core/feed-clock.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import type { BarStore } from '../../services/ports/bars.ts'
import { administration } from '../../services/stores/questdb/exec.ts'
import { createBars } from '../../services/stores/questdb/layout/statements.ts'
import { writeDeadlineMs } from '../../services/stores/questdb/write/writer.ts'
import { oneServer } from '../support/questdb/one-server.ts'
import type { QuestdbServer } from '../support/questdb/server.ts'
import { openInTest } from '../support/questdb/stores.ts'
import { always, batchOf, freshFeed, freshSeries, minuteBar, minuteBars, readList } from './sample-bars.ts'

const server = oneServer()
const h1 = (prefix: string): string => `${prefix}bars_brokera_zero_h1`
const untilServed = { timeout: 150_000, interval: 50 }
/** Some of these wait for several starts of the server. */
const patient = { timeout: 400_000 }

/** Once it is, whoever looks sees it. */
async function suspend(at: QuestdbServer, table: string): Promise<void> {
  await at.exec(`ALTER TABLE ${table} SUSPEND WAL`)
  await expect
    .poll(
      async () =>
        (await at.exec(`SELECT table_suspended FROM tables() WHERE table_name = '${table}'`))[0]?.[0],
    )
    .toBe(true)
}

describe('a server that is away', patient, () => {
  test('killed while bars flow, has every acknowledged bar after its start, and the writers go on by themselves', async () => {
    const { stores } = await openInTest(server())
    const [live, backfill] = [freshSeries('60'), freshSeries('60')]
    const acknowledged = { live: 0, backfill: 0 }
    let stop = false
    const write = async (lane: 'live' | 'backfill', size: number): Promise<void> => {
      const series = lane === 'live' ? live : backfill
      for (let at = 0; !stop; at += size) {
        await stores.bars.write([batchOf(series, minuteBars(at, at + size))], lane)
        acknowledged[lane] = at + size
      }
    }
    const writers = [write('live', 3), write('backfill', 2_000)]
    for (let kills = 0; kills < 2; kills++) {
      const before = { ...acknowledged }
      await expect
        .poll(
          () => acknowledged.live > before.live + 30 && acknowledged.backfill > before.backfill,
          untilServed,
        )
        .toBe(true)
      await server().kill()
      await server().start()
    }
    const before = { ...acknowledged }
    await expect
      .poll(() => acknowledged.live > before.live && acknowledged.backfill > before.backfill, untilServed)
      .toBe(true)
    stop = true
    await Promise.all(writers)
    expect(await readList(stores.bars, live)).toEqual(minuteBars(0, acknowledged.live))
    const stored = await stores.bars.read({ series: backfill, ...always })
    expect(stored.time).toHaveLength(acknowledged.backfill)
  })

  test('frozen and going on within the deadline, takes what waits, each bar once', async () => {
    const { stores, prefix } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await server().freeze()
    const writes = Array.from({ length: 20 }, (_, i) =>
      stores.bars.write([batchOf(series, [minuteBar(i)])], 'live'),
    )
    await systemClock.sleep(11_000)
    server().thaw()
    await Promise.all(writes)
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 20))
    // Sent at least twice, and stored once: minute 0 twice because two callers gave it.
    expect((await server().exec(`SELECT count() FROM ${h1(prefix)}`))[0]).toEqual([21])
  })

  test('frozen beyond the deadline, fails the write as Unavailable and never leaves it hanging', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await server().freeze()
    const begun = systemClock.monotonicMs()
    await expect(stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')).rejects.toBeInstanceOf(
      Unavailable,
    )
    const tookMs = systemClock.monotonicMs() - begun
    server().thaw()
    expect(tookMs).toBeGreaterThan(writeDeadlineMs - 1_000)
    expect(tookMs).toBeLessThan(writeDeadlineMs + 2_000)
    await stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 2))
  })
})

describe('a suspended table', () => {
  test('fails its writers and the ping at once, harms no other table, and shows everything acknowledged once resumed', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    const [series, other] = [freshSeries('60'), freshSeries('240')]
    await stores.bars.write([batchOf(series, [minuteBar(0)]), batchOf(other, [minuteBar(0)])], 'live')
    await suspend(server(), h1(prefix))
    const write = () => stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
    const begun = systemClock.monotonicMs()
    const [refused, taken] = await Promise.allSettled([
      write(),
      stores.bars.write([batchOf(other, [minuteBar(1)])], 'live'),
    ])
    expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) as unknown })
    expect(taken.status).toBe('fulfilled')
    await expect(write()).rejects.toBeInstanceOf(Unavailable)
    await expect(stores.bars.ping()).rejects.toBeInstanceOf(Unavailable)
    expect(systemClock.monotonicMs() - begun).toBeLessThan(5_000)
    expect(await metric('fxd_questdb_suspended_tables')).toBe(1)
    await server().exec(`ALTER TABLE ${h1(prefix)} RESUME WAL`)
    await expect.poll(() => stores.bars.ping().then(() => 'fine', String), untilServed).toBe('fine')
    await write()
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 2))
    expect(await readList(stores.bars, other)).toEqual(minuteBars(0, 2))
    expect(await metric('fxd_questdb_suspended_tables')).toBe(0)
  })

  test('is counted by what the tables say: resuming a healthy one drives the count of the server below zero, not ours', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await server().exec(`ALTER TABLE ${h1(prefix)} RESUME WAL`)
    await stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
    await stores.bars.ping()
    expect(await metric('fxd_questdb_suspended_tables')).toBe(0)
  })
})

describe('administration', () => {
  const admin = () =>
    administration({
      http: server().http,
      credentials: { user: 'admin', password: 'quest' },
      clock: systemClock,
    })

  test('a statement that fails in the middle of its answer, whose status is 200, is an error', async () => {
    const table = 'failing_late'
    await server().exec(`CREATE TABLE ${table} (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL`)
    await suspend(server(), table)
    await server().exec(`INSERT INTO ${table} VALUES (0)`)
    await expect(admin().exec(`SELECT wait_wal_table('${table}')`)).rejects.toThrow(/suspended/)
    await server().exec(`DROP TABLE ${table}`)
  })

  test('a statement that is refused says so in the words of the server, two in one are refused too', async () => {
    await expect(admin().exec('SELECT nothing FROM nowhere')).rejects.toThrow(/does not exist/)
    await expect(admin().exec('SELECT 1; DROP TABLE nowhere')).rejects.toThrow(/unexpected token/)
  })
})

describe('rows that QuestDB refuses', () => {
  test('cost the other tables of their request nothing', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await server().exec(
      createBars(h1(prefix), '60', undefined).replace('c DOUBLE, v LONG', 'c DOUBLE, v SHORT'),
    )
    const [narrow, other] = [freshSeries('60'), freshSeries('240')]
    const batch = [batchOf(other, [minuteBar(0)]), batchOf(narrow, [{ ...minuteBar(0), volume: 70_000 }])]
    await stores.bars.write([...batch, batchOf(narrow, [minuteBar(1)])], 'live')
    expect(await readList(stores.bars, other)).toEqual([minuteBar(0)])
    expect(await readList(stores.bars, narrow)).toEqual([minuteBar(1)])
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(1)
  })

  test('are found among good ones and parked with an alarm; the good ones are stored', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    // As if the table had been made by something else: its volumes end at 32,767.
    await server().exec(
      createBars(h1(prefix), '60', undefined).replace('c DOUBLE, v LONG', 'c DOUBLE, v SHORT'),
    )
    const series = freshSeries('60')
    const list = minuteBars(0, 6_000).map((bar, i) => ({
      ...bar,
      volume: i === 17 || i === 5_500 ? 70_000 : 1,
    }))
    await stores.bars.write([batchOf(series, list)], 'backfill')
    const stored = await stores.bars.read({ series, ...always })
    expect(stored.time).toHaveLength(5_998)
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(2)
    const parked = await server().exec(`SELECT reason, line FROM ${prefix}parked`)
    expect(parked).toHaveLength(2)
    for (const [reason, line] of parked) {
      expect(String(reason)).toContain('v')
      const text = Buffer.from(String(line), 'base64').toString('latin1')
      expect(text.startsWith(`${h1(prefix)},sym=`)).toBe(true)
      expect(text).toContain('v=70000i')
    }
  })

  test('in a table whose columns are others, fail the write instead of being parked one by one', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await server().exec(
      createBars(h1(prefix), '60', undefined).replace('c DOUBLE, v LONG', 'c DOUBLE, volume LONG'),
    )
    const write = stores.bars.write([batchOf(freshSeries('60'), minuteBars(0, 100))], 'live')
    await expect(write).rejects.toMatchObject({
      cause: expect.objectContaining({ message: expect.stringContaining('column') as unknown }) as unknown,
    })
    expect(await metric('fxd_questdb_parked_rows_total')).toBe(0)
  })

  test('or would silently change are refused by name before anything is sent', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    const broken = [
      { open: Number.NaN },
      { high: Number.POSITIVE_INFINITY },
      { low: Number.NEGATIVE_INFINITY },
      { close: Number.NaN },
      { volume: 1.5 },
      { volume: Number.NaN },
      { time: feedSeconds(-60) },
      { time: feedSeconds(1_700_000_000_000) },
    ]
    for (const each of broken) {
      const write = stores.bars.write([batchOf(series, [minuteBar(0), { ...minuteBar(1), ...each }])], 'live')
      await expect(write, JSON.stringify(each)).rejects.toThrow(
        `${series.symbol} at 60 has the ${Object.keys(each)[0]}`,
      )
    }
    expect(await readList(stores.bars, series)).toEqual([])
  })
})

describe('tables that somebody else removed', () => {
  test('are made again, and no write into the void is acknowledged', async () => {
    const { stores, prefix } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await server().exec(`DROP TABLE ${h1(prefix)}`)
    const write = () =>
      stores.bars.write([batchOf(series, [minuteBar(1)])], 'live').then(
        () => 'stored',
        () => 'failed',
      )
    await expect.poll(write, untilServed).toBe('stored')
    expect(await readList(stores.bars, series)).toEqual([minuteBar(1)])
  })

  test('and made again by one process get nothing of what another still sends to the old ones, and it is not acknowledged', async () => {
    const { stores: a, prefix } = await openInTest(server())
    const { stores: b } = await openInTest(server(), { prefix })
    const series = freshSeries('60')
    const untilStored = async (bars: BarStore, minute: number): Promise<void> =>
      await expect
        .poll(
          () =>
            bars.write([batchOf(series, [minuteBar(minute)])], 'live').then(
              () => 'stored',
              () => 'failed',
            ),
          untilServed,
        )
        .toBe('stored')
    await untilStored(a.bars, 0)
    await untilStored(b.bars, 1)
    await server().exec(`DROP TABLE ${h1(prefix)}`)
    // Having seen that it is gone, `a` makes it again before it sends anything.
    expect(await readList(a.bars, series)).toEqual([])
    await untilStored(a.bars, 2)
    await untilStored(b.bars, 3)
    expect(await readList(a.bars, series)).toEqual(minuteBars(2, 4))
  })

  test('answer as empty: the store said that there is nothing', async () => {
    const { stores, prefix } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await server().exec(`DROP TABLE ${h1(prefix)}`)
    expect(await readList(stores.bars, series)).toEqual([])
    expect(await stores.bars.bounds(series, [always])).toEqual([undefined])
    expect(await stores.bars.lastTimes(series.feed)).toEqual(new Map())
  })
})

describe('two processes on one QuestDB', () => {
  test('of changes of the registry based on one version exactly one counts, and both know which', async () => {
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

  test('windows of both are one union, also after the purge by one of them', async () => {
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

  test('a window that grows every minute stays one row', async () => {
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
