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
import { queuedBarsMax, queuedMs } from './event-queue.ts'
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
/** Events that readers got. */
let got: BusEvent[]
/** Those that arrived with the word that events before them were dropped. */
let afterLoss: BusEvent[]
/** Set while the bus is unavailable. `arrives`: events still arrive, and only the reply is lost. */
let fault: { readonly arrives: boolean } | undefined

beforeEach(() => {
  clock = createVirtualClock()
  bus = embeddedBus(clock, silentLog)
  metrics = createMetrics({ ofProcess: false })
  got = []
  afterLoss = []
  fault = undefined
  bus.follow({ deliver: ({ event }) => void got.push(event), lost: () => undefined })
  const faulty: Bus = {
    ...bus,
    async publish(event, epoch, options) {
      if (fault?.arrives !== false) {
        const published = await bus.publish(event, epoch)
        if (options?.afterLoss) afterLoss.push(event)
        if (!fault) return published
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

/** Makes the bus available and waits until the waiting events are published. */
async function restoreBus(): Promise<void> {
  fault = undefined
  await clock.advance(busRetryMs)
  // The bus needs one turn of the event loop per event.
  for (let turns = 0; turns < 20; turns++) await clock.advance(0)
}
const value = async (name: string): Promise<number> => metrics.total(name, {})

describe('while an event is being published', () => {
  test('further batches share one event, and only the last batch gets its position', async () => {
    const first = publisher.publish(bars(1), 1)
    await Promise.resolve()
    const later = [2, 3, 4].map((each) => publisher.publish(bars(each), 1))
    const [position = 0, ...positions] = await Promise.all([first, ...later])
    expect(positions).toEqual([position, position, position + 1])
    await clock.advance(0)
    expect(got).toEqual([bars(1), bars(2, 3)])
  })

  test('events keep their order, and sessions do not share one', async () => {
    const published = [bars(1), minutes, bars(2), bars(3)].map((event) => publisher.publish(event, 1))
    await Promise.all([...published, publisher.publish(bars(4), 2), publisher.publish(bars(5), 2)])
    await clock.advance(0)
    expect(got).toEqual([bars(1), minutes, bars(2, 2), bars(4, 2)])
  })

  test('an event has at most the bars of a batch', async () => {
    const published = [
      publisher.publish(bars(1, batchBarsMax - 1), 1),
      publisher.publish(bars(batchBarsMax, 2), 1),
    ]
    expect(await Promise.all(published)).not.toContain(undefined)
    await clock.advance(0)
    expect(got.map((event) => event.type === 'bars' && event.bars.length)).toEqual([batchBarsMax - 1, 2])
  })
})

test('after an outage endless revisions do not delay bars, and bars get positions again', async () => {
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
  const published = publisher.publish(bars(2), 1)
  for (let i = 0; i < 20; i++) await clock.advance(1)
  expect(await published).toBeGreaterThan(0)
  expect(got.filter(({ type }) => type === 'bars')).toEqual([bars(1), bars(2)])
})

describe('while the bus is unavailable', () => {
  beforeEach(() => {
    fault = { arrives: false }
  })

  test('calls do not wait, and live bars are published in order afterwards', async () => {
    for (const event of [bars(1), minutes, bars(2), settled, bars(3)]) {
      expect(await publisher.publish(event, 1)).toBeUndefined()
    }
    await clock.advance(10 * busRetryMs)
    expect(got).toEqual([])
    expect(await value('fxd_ingest_backlog_bars')).toBe(5)
    await restoreBus()
    expect(got).toEqual([bars(1), minutes, bars(2), settled, bars(3)])
    expect(await value('fxd_ingest_backlog_bars')).toBe(0)
    expect(await value('fxd_ingest_pushed_bars_total')).toBe(3)
    expect(await publisher.publish(bars(4), 1)).toBeGreaterThan(0)
    expect(got.at(-1)).toEqual(bars(4))
  })

  test('events that were sent together at the start of the outage keep their order', async () => {
    fault = undefined
    const first = publisher.publish(bars(1), 1)
    await Promise.resolve()
    fault = { arrives: true }
    await Promise.all([first, publisher.publish(bars(2), 1), publisher.publish(bars(3), 1)])
    await restoreBus()
    // The first event arrived, but its reply was lost: a repeat is harmless, another order is not.
    expect(got).toEqual([bars(1), bars(1), bars(2, 2)])
  })

  test('the repeated changes of a series are kept as one range', async () => {
    await publisher.publishRevised([range(60, 120)])
    await publisher.publishRevised([range(300, 360), range(0, 60)])
    await restoreBus()
    expect(got).toEqual([{ type: 'revised', ...range(0, 360) }])
  })

  test('bars join up to the word that the store has them, which waits in its place, once', async () => {
    for (const event of [settled, bars(1), bars(2), settled, settled, bars(3)])
      expect(await publisher.publish(event, 1)).toBeUndefined()
    await restoreBus()
    expect(got).toEqual([settled, bars(1, 2), settled, bars(3)])
    expect(await value('fxd_ingest_backlog_bars')).toBe(0)
  })

  test('an alarm is raised once, not every two seconds', async () => {
    for (let i = 0; i < 20; i++) {
      await publisher.publish(settled, 1)
      await clock.advance(2_000)
    }
    expect(await metrics.total('fxd_ingest_alarms_total', { kind: 'publish' })).toBe(1)
  })

  test('another leader ends the session, and the waiting events are dropped', async () => {
    await publisher.publish(bars(1), 1)
    await bus.publish(bars(9), 2)
    await restoreBus()
    expect(got).toEqual([bars(9)])
    await expect(publisher.publish(bars(2), 1)).rejects.toMatchObject({
      code: 'ABORTED',
      message: 'another ingest took over this feed',
    })
    expect(await publisher.publish(bars(10), 3)).toBeGreaterThan(0)
  })

  test('waiting events of an earlier session are published before those of a later one', async () => {
    await publisher.publish(bars(1), 1)
    await publisher.publish(bars(2), 2)
    await restoreBus()
    expect(got).toEqual([bars(1), bars(2)])
  })

  test.each([
    ['too many bars', async (): Promise<void> => void (await publisher.publish(bars(2, queuedBarsMax), 1))],
    ['a too old event', (): Promise<void> => clock.advance(queuedMs)],
  ] as const)(
    'a queue with %s is dropped, the next publication says so under the same epoch, and the session goes on',
    async (_what, wait) => {
      await publisher.publish(bars(1), 1)
      await wait()
      await clock.advance(busRetryMs)
      expect(await value('fxd_ingest_backlog_bars')).toBe(0)
      expect(await value('fxd_ingest_backlog_dropped_bars_total')).toBeGreaterThan(0)
      expect(await publisher.publish(bars(2), 1)).toBeUndefined()
      expect(await publisher.publish(minutes, 1)).toBeUndefined()
      await restoreBus()
      expect(got).toEqual([bars(2), minutes])
      expect(afterLoss).toEqual([bars(2)])
      expect(await publisher.publish(bars(3), 1)).toBeGreaterThan(0)
      expect(afterLoss).toEqual([bars(2)])
    },
  )

  test('a publication whose reply was lost is repeated as one after a loss', async () => {
    await publisher.publish(bars(1, queuedBarsMax + 1), 1)
    await clock.advance(busRetryMs)
    fault = { arrives: true }
    await publisher.publish(bars(2), 1)
    await restoreBus()
    expect(afterLoss).toEqual([bars(2), bars(2)])
  })

  test('an outage in which nothing but `settled` is published, however long it is, is no loss', async () => {
    for (let i = 0; i < 2; i++) {
      await publisher.publish(settled, 1)
      await clock.advance(queuedMs)
    }
    await restoreBus()
    expect(await publisher.publish(bars(1), 1)).toBeGreaterThan(0)
    expect(afterLoss).toEqual([])
  })

  test('no waiting event of a purged feed is published', async () => {
    await publisher.publish(bars(1), 1)
    await publisher.publishRevised([range(0, 60)])
    publisher.discard()
    await restoreBus()
    expect(got).toEqual([])
  })
})

test('an event whose reply was lost is published again; readers recognise bars by their times', async () => {
  fault = { arrives: true }
  await publisher.publish(bars(1), 1)
  await restoreBus()
  expect(got).toEqual([bars(1), bars(1)])
})

test('a session with a smaller epoch ends', async () => {
  await bus.publish(bars(1), 2)
  await expect(publisher.publish(bars(2), 1)).rejects.toMatchObject({ code: 'ABORTED' })
})

test('a closed publisher does not retry', async () => {
  fault = { arrives: false }
  await publisher.publish(bars(1), 1)
  publisher.close()
  await clock.advance(10 * busRetryMs)
  expect(clock.pending).toBe(0)
})
