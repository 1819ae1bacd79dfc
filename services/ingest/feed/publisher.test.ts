import { beforeEach, describe, expect, test } from 'vitest'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { compoundKey, feedKey } from '../../core/feeds/compound-key.ts'
import { silentLog } from '../../platform/log/log.ts'
import { createMetrics, type Metrics } from '../../platform/metrics.ts'
import type { Bus, BusEvent } from '../../ports/bus.ts'
import { embeddedBus } from '../../stores/embedded/bus.ts'
import { batchBarsMax } from '../../wire/limits.ts'
import { createIngestMetrics } from '../metrics.ts'
import { backlogAgeMs, backlogBarsMax } from './backlog.ts'
import { busRetryMs, Publisher } from './publisher.ts'

const feed = feedKey('BROKERA', 'ZERO')
const symbol = compoundKey(feed, 'EURUSD')
const settled = { type: 'settled' as const, feed }
const minutes = { type: 'minutes' as const, feed, from: feedSeconds(0), to: feedSeconds(60) }

const bars = (first: number, count = 1) => ({
  type: 'bars' as const,
  feed,
  bars: Array.from({ length: count }, (_, i) => ({
    symbol,
    resolution: '1' as const,
    bar: { time: feedSeconds((first + i) * 60), open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 },
  })),
})
const range = (from: number, to: number) => ({
  series: { feed, symbol, resolution: '1' as const },
  from: feedSeconds(from),
  to: feedSeconds(to),
})

let clock: VirtualClock
let bus: Bus
let metrics: Metrics
let publisher: Publisher
/** What readers got. */
let got: BusEvent[]
/** Whether the bus is away, and whether what it is given arrives all the same: then only the reply is lost. */
let fault: { readonly arrives: boolean } | undefined

beforeEach(() => {
  clock = createVirtualClock()
  bus = embeddedBus(clock, silentLog)
  metrics = createMetrics({ ofProcess: false })
  got = []
  fault = undefined
  bus.follow({ deliver: ({ event }) => void got.push(event), lost: () => undefined })
  const faulty: Bus = {
    ...bus,
    async publish(event, epoch) {
      if (fault?.arrives !== false) {
        const told = await bus.publish(event, epoch)
        if (!fault) return told
      }
      throw new Unavailable('the bus')
    },
  }
  publisher = new Publisher(feed, {
    bus: faulty,
    clock,
    log: silentLog,
    metrics: createIngestMetrics(metrics),
  })
})

/** The bus is back, and what waited had its time. */
async function back(): Promise<void> {
  fault = undefined
  await clock.advance(busRetryMs)
  // The bus takes a turn of the loop for each event.
  for (let turns = 0; turns < 20; turns++) await clock.advance(0)
}
const value = async (name: string): Promise<number> => metrics.total(name, {})

describe('while an event is on its way', () => {
  test('batches that come are one event, and only the last of them says that it is whole', async () => {
    const first = publisher.publish(bars(1), 1)
    await Promise.resolve()
    const later = [2, 3, 4].map((each) => publisher.publish(bars(each), 1))
    const [position = 0, ...positions] = await Promise.all([first, ...later])
    expect(positions).toEqual([position, position, position + 1])
    await clock.advance(0)
    expect(got).toEqual([bars(1), bars(2, 3)])
  })

  test('nothing changes places with another event, and publishers share none', async () => {
    const told = [bars(1), minutes, bars(2), bars(3)].map((event) => publisher.publish(event, 1))
    await Promise.all([...told, publisher.publish(bars(4), 2), publisher.publish(bars(5), 2)])
    await clock.advance(0)
    expect(got).toEqual([bars(1), minutes, bars(2, 2), bars(4, 2)])
  })

  test('an event has no more bars than a batch may have', async () => {
    const told = [
      publisher.publish(bars(1, batchBarsMax - 1), 1),
      publisher.publish(bars(batchBarsMax, 2), 1),
    ]
    expect(await Promise.all(told)).not.toContain(undefined)
    await clock.advance(0)
    expect(got.map((event) => event.type === 'bars' && event.bars.length)).toEqual([batchBarsMax - 1, 2])
  })
})

test('revisions without an end hold up no bar when the bus is back, and bars have positions again', async () => {
  let count = 0
  const revise = (): Promise<void> => {
    const series = { feed, symbol: compoundKey(feed, `SYM${count++}`), resolution: '1' as const }
    return publisher.publishRevised([{ series, from: feedSeconds(0), to: feedSeconds(60) }])
  }
  const slow: Bus = {
    ...bus,
    async publish(event, epoch) {
      if (fault) throw new Unavailable('the bus')
      if (event.type === 'revised' && count < 1_000) void revise()
      await clock.sleep(10)
      return bus.publish(event, epoch)
    },
  }
  const deps = {
    bus: slow,
    clock,
    log: silentLog,
    metrics: createIngestMetrics(createMetrics({ ofProcess: false })),
  }
  publisher = new Publisher(feed, deps)
  fault = { arrives: false }
  await publisher.publish(bars(1), 1)
  for (let i = 0; i < 100; i++) await revise()
  fault = undefined
  await clock.advance(busRetryMs)
  for (let i = 0; i < 20; i++) await clock.advance(1)
  const told = publisher.publish(bars(2), 1)
  for (let i = 0; i < 20; i++) await clock.advance(1)
  expect(await told).toBeGreaterThan(0)
  expect(got.filter(({ type }) => type === 'bars')).toEqual([bars(1), bars(2)])
})

describe('while the bus is away', () => {
  beforeEach(() => {
    fault = { arrives: false }
  })

  test('nobody waits for it, and live bars follow in their order when it is back', async () => {
    for (const event of [bars(1), minutes, bars(2), settled, bars(3)]) {
      expect(await publisher.publish(event, 1)).toBeUndefined()
    }
    await clock.advance(10 * busRetryMs)
    expect(got).toEqual([])
    expect(await value('fxd_ingest_backlog_bars')).toBe(4)
    await back()
    expect(got).toEqual([bars(1), minutes, bars(2), bars(3)])
    expect(await value('fxd_ingest_backlog_bars')).toBe(0)
    expect(await value('fxd_ingest_pushed_bars_total')).toBe(3)
    expect(await publisher.publish(bars(4), 1)).toBeGreaterThan(0)
    expect(got.at(-1)).toEqual(bars(4))
  })

  test('what is told at once while it goes away keeps its order too', async () => {
    fault = undefined
    const first = publisher.publish(bars(1), 1)
    await Promise.resolve()
    fault = { arrives: true }
    await Promise.all([first, publisher.publish(bars(2), 1), publisher.publish(bars(3), 1)])
    await back()
    // The first arrived, and its publisher could not know: once more is harmless, another order is not.
    expect(got).toEqual([bars(1), bars(1), bars(2, 2)])
  })

  test('of a series that changes again and again one range is kept', async () => {
    await publisher.publishRevised([range(60, 120)])
    await publisher.publishRevised([range(300, 360), range(0, 60)])
    await back()
    expect(got).toEqual([{ type: 'revised', ...range(0, 360) }])
  })

  test('an operator is alarmed once, not every two seconds', async () => {
    for (let i = 0; i < 20; i++) {
      await publisher.publish(settled, 1)
      await clock.advance(2_000)
    }
    expect(await metrics.total('fxd_ingest_alarms_total', { kind: 'publish' })).toBe(1)
  })

  test('another leader ends what waits, and the session', async () => {
    await publisher.publish(bars(1), 1)
    await bus.publish(bars(9), 2)
    await back()
    expect(got).toEqual([bars(9)])
    await expect(publisher.publish(bars(2), 1)).rejects.toMatchObject({
      code: 'ABORTED',
      message: 'another ingest took over this feed',
    })
    expect(await publisher.publish(bars(10), 3)).toBeGreaterThan(0)
  })

  test('what waits of an earlier session goes before what a later one tells', async () => {
    await publisher.publish(bars(1), 1)
    await publisher.publish(bars(2), 2)
    await back()
    expect(got).toEqual([bars(1), bars(2)])
  })

  test.each([
    ['too many bars', async (): Promise<void> => void (await publisher.publish(bars(1, backlogBarsMax), 1))],
    ['too long', (): Promise<void> => clock.advance(backlogAgeMs)],
  ] as const)(
    'after %s none of it is published: the session ends once the bus is back',
    async (_what, wait) => {
      await publisher.publish(bars(1), 1)
      await wait()
      await clock.advance(busRetryMs)
      expect(await publisher.publish(bars(2), 1)).toBeUndefined()
      expect(await publisher.publish(settled, 1)).toBeUndefined()
      expect(await value('fxd_ingest_backlog_bars')).toBe(0)
      expect(await value('fxd_ingest_backlog_dropped_bars_total')).toBeGreaterThan(0)
      await back()
      await expect(publisher.publish(bars(3), 1)).rejects.toMatchObject({ code: 'ABORTED' })
      await expect(publisher.publish(bars(4), 1)).rejects.toMatchObject({ code: 'ABORTED' })
      expect(await publisher.publish(bars(5), 2)).toBeGreaterThan(0)
      expect(got.filter(({ type }) => type === 'bars')).toEqual([bars(5)])
    },
  )

  test('a session that is never idle is ended too once the bus is back after an overrun', async () => {
    await publisher.publish(bars(1, backlogBarsMax), 1)
    for (let i = 0; i < 10; i++) {
      expect(await publisher.publish(bars(2 + i), 1)).toBeUndefined()
      await clock.advance(busRetryMs)
    }
    await back()
    await expect(publisher.publish(bars(20), 1)).rejects.toMatchObject({
      code: 'ABORTED',
      message: 'more had to wait for the bus than is kept; connect again',
    })
    expect(await publisher.publish(bars(21), 2)).toBeGreaterThan(0)
    expect(got.filter(({ type }) => type === 'bars')).toEqual([bars(21)])
    expect(await value('fxd_ingest_backlog_bars')).toBe(0)
  })

  test('another leader ends a session after an overrun', async () => {
    await publisher.publish(bars(1, backlogBarsMax), 1)
    await publisher.publish(bars(2), 1)
    await bus.publish(bars(9), 2)
    await back()
    await expect(publisher.publish(bars(3), 1)).rejects.toMatchObject({
      code: 'ABORTED',
      message: 'another ingest took over this feed',
    })
  })

  test('a later session need not wait for an overrun of the one before', async () => {
    await publisher.publish(bars(1, backlogBarsMax), 1)
    await publisher.publish(bars(2), 1)
    await back()
    expect(await publisher.publish(bars(3), 2)).toBeGreaterThan(0)
    expect(got.filter(({ type }) => type === 'bars')).toEqual([bars(3)])
  })

  test('of a feed that is purged nothing follows', async () => {
    await publisher.publish(bars(1), 1)
    await publisher.publishRevised([range(0, 60)])
    publisher.discard()
    await back()
    expect(got).toEqual([])
  })
})

test('an event whose reply was lost is told again: readers know bars by their times', async () => {
  fault = { arrives: true }
  await publisher.publish(bars(1), 1)
  await back()
  expect(got).toEqual([bars(1), bars(1)])
})

test('a publisher of a smaller epoch ends its session', async () => {
  await bus.publish(bars(1), 2)
  await expect(publisher.publish(bars(2), 1)).rejects.toMatchObject({ code: 'ABORTED' })
})

test('after its end it tries no more', async () => {
  fault = { arrives: false }
  await publisher.publish(bars(1), 1)
  publisher.close()
  await clock.advance(10 * busRetryMs)
  expect(clock.pending).toBe(0)
})
