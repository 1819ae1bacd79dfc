import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FxdError } from '../../../clients/typescript/src/error.ts'
import type { Fxd } from '../../../clients/typescript/src/fxd.ts'
import type { Rest } from '../../../clients/typescript/src/rest.ts'
import type { Bar, Item, Range, Resolution } from '../../../clients/typescript/src/types.ts'
import { ChartSource } from './source.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const symbol = 'BROKERA:ZERO:EURUSD'
const bar = (time: number): Bar => ({ time, open: 1, high: 1, low: 1, close: 1, volume: 1 })
const healed: Item = { type: 'revised', symbol, resolution: '1', from: 120, to: 180 }

/** A source whose answers a test gives. */
function sourceOf(resolution: Resolution, opens: readonly number[]) {
  const service = {
    bars: opens.map(bar),
    coverage: [] as Range[],
    history: 0,
    coverages: [] as (string | undefined)[],
    failure: undefined as FxdError | undefined,
  }
  const shown: string[] = []
  const notes: string[] = []
  const abort = new AbortController()
  let stream: ReadableStreamDefaultController<Item> | undefined
  const rest = {
    async get(path: string, query: { from?: number; to?: number; countback?: number; resolution?: string }) {
      if (path === 'coverage') {
        service.coverages.push(query.resolution)
        return { coverage: service.coverage }
      }
      service.history += 1
      if (service.failure) throw service.failure
      const { from = 0, to = Number.POSITIVE_INFINITY } = query
      const bars = service.bars.filter(({ time }) => time >= from && time <= to)
      const columns = ['open', 'high', 'low', 'close', 'volume'] as const
      const [o, h, l, c, v] = columns.map((name) => bars.map((each) => each[name]))
      return { t: bars.map(({ time }) => time), o, h, l, c, v }
    },
  }
  const fxd = {
    bars: () => new ReadableStream<Item>({ start: (begun) => void (stream = begun) }).values(),
    async *history(_: string, { from }: { from: number }) {
      if (service.failure) throw service.failure
      yield* service.bars.filter(({ time }) => time >= from)
    },
  }
  const source = new ChartSource(
    { fxd: fxd as unknown as Fxd, rest: rest as unknown as Rest, refused: () => false },
    { symbol, resolution, hasMinutes: true },
    {
      redraw: (moved) => void shown.push(`all ${moved ?? ''}`.trim()),
      redrawLast: () => void shown.push('last'),
      ended: (why) => void notes.push(why),
      note: (text) => void notes.push(text),
      beginsLater: (first) => void notes.push(`begins at ${first}`),
    },
    abort.signal,
  )
  return {
    abort,
    service,
    source,
    shown,
    notes,
    times: () => source.series.bars.map(({ time }) => time),
    async push(...pushed: Item[]) {
      for (const item of pushed) stream?.enqueue(item)
      await vi.advanceTimersByTimeAsync(0)
    },
  }
}

describe('bars that are read again', () => {
  test('heal a gap: coverage is read with them, and all is drawn', async () => {
    const { service, source, shown, times, push } = sourceOf('1', [0, 60, 240])
    service.coverage = [
      { from: 0, to: 60 },
      { from: 240, to: 240 },
    ]
    await source.open()
    expect(source.gaps).toEqual([{ from: 120, to: 180 }])
    service.bars = [0, 60, 120, 180, 240].map(bar)
    service.coverage = [{ from: 0, to: 240 }]
    shown.length = 0
    await push(healed)
    await vi.advanceTimersByTimeAsync(10_000)
    expect([times(), source.gaps, shown]).toEqual([[0, 60, 120, 180, 240], [], ['all']])
  })

  test('of 100 frames within 10 s cost one request of history and one of coverage', async () => {
    const { service, source, push } = sourceOf('1', [0, 60, 240])
    await source.open()
    const [history, coverages] = [service.history, service.coverages.length]
    await push(...Array.from({ length: 100 }, () => healed))
    await vi.advanceTimersByTimeAsync(60_000)
    expect([service.history - history, service.coverages.length - coverages]).toEqual([1, 1])
  })

  test('do not hold up the stream while the key waits for its requests', async () => {
    const { service, source, shown, push } = sourceOf('5', [0, 300])
    await source.open()
    service.failure = new FxdError('RATE_LIMIT_EXCEEDED', 'full', { status: 429, retryAfter: 60 })
    await push({ type: 'bar', symbol, ...bar(600) })
    await vi.advanceTimersByTimeAsync(20_000)
    shown.length = 0
    await push({ type: 'bar', symbol, ...bar(660) })
    expect(shown).toEqual(['last'])
    expect(source.series.last).toEqual({ ...bar(600), volume: 2 })
  })
})

test('gaps that coverage no longer has are drawn away when a chart opens again', async () => {
  const { service, source, shown } = sourceOf('1', [0, 240])
  service.coverage = [
    { from: 0, to: 60 },
    { from: 240, to: 240 },
  ]
  await source.open()
  service.coverage = [{ from: 0, to: 240 }]
  shown.length = 0
  await source.open()
  expect([source.gaps, shown.length]).toEqual([[], 2])
})

test('a time before the first bar opens the first bars, says so, and keeps the newest out of view', async () => {
  const opens = Array.from({ length: 2_500 }, (_, i) => 6_000_000 + i * 60)
  const { service, source, shown, notes, times } = sourceOf('1', opens)
  await source.open(60)
  expect([times(), source.isLive]).toEqual([opens.slice(0, 2_000), false])
  expect(shown).toEqual(['all 6000000', 'all 6000000'])
  expect(notes).toContain('begins at 6000000')
  const { history } = service
  await source.older()
  expect(service.history).toBe(history)
})

test('each jump to a time before the first bar says so, also one that has bars within the page behind it', async () => {
  const opens = Array.from({ length: 2_500 }, (_, i) => 6_000_000 + i * 60)
  const { source, notes } = sourceOf('1', opens)
  for (const time of [6_000_000 - 60, 6_000_000 - 60, 6_000_000]) await source.open(time)
  expect(notes.filter((text) => text !== '')).toEqual(['begins at 6000000', 'begins at 6000000'])
})

test.for([
  ['60', '60'],
  ['1W', '1W'],
  ['30', '1'],
] as const)('a chart of %s is shaded by the coverage of %s', async ([resolution, asked]) => {
  const { service, source } = sourceOf(resolution, [0, 7_200])
  await source.open()
  expect(service.coverages).toEqual([asked])
})

test('a jump reads one page of bars, and coverage only if it was not read yet', async () => {
  const opens = Array.from({ length: 2_500 }, (_, i) => 6_000_000 + i * 60)
  const { service, source } = sourceOf('1', opens)
  await source.open()
  const { history } = service
  await source.open(6_060_000)
  expect([service.history - history, service.coverages.length]).toEqual([1, 1])
})

test('bars behind a jump that could not be read are read again, and the chart is not live before', async () => {
  const opens = Array.from({ length: 6_000 }, (_, i) => 6_000_000 + i * 60)
  const { service, source } = sourceOf('1', opens)
  await source.open(6_060_000)
  const last = source.series.last?.time ?? 0
  service.failure = new FxdError('RATE_LIMITED', 'the day is used up', { status: 429, retryAfter: 600 })
  const read = source.newer()
  await vi.advanceTimersByTimeAsync(599_000)
  expect([source.isLive, source.series.last?.time]).toEqual([false, last])
  service.failure = undefined
  await vi.advanceTimersByTimeAsync(2_000)
  await read
  expect([source.isLive, source.series.last?.time]).toEqual([false, last + 2_000 * 60])
})

test('nothing is drawn after the chart has ended while its gaps were read', async () => {
  const { abort, service, source, shown } = sourceOf('1', [0, 60])
  const asked = source.open()
  await vi.waitFor(() => expect(service.coverages).toHaveLength(1))
  shown.length = 0
  abort.abort()
  await asked
  expect(shown).toEqual([])
})
