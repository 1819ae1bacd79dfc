import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Clocks } from './clocks.ts'
import type { FxdError } from './error.ts'
import type { Followed } from './followed.ts'
import { Liveness } from './liveness.ts'
import { Subscriptions } from './subscriptions.ts'
import type { Item, Range } from './types.ts'

const symbol = 'A:B:C'
const now = 1_000_020
const minute = (n: number): number => 999_000 + n * 60
const bar = (time: number) => ({ time, open: 1, high: 1, low: 1, close: 1, volume: 1 })
const item = (time: number) => ({ type: 'bar', symbol, ...bar(time) })

beforeEach(() => vi.useFakeTimers({ now: now * 1_000, toFake: ['Date', 'performance'] }))
afterEach(() => vi.useRealTimers())

/** Subscriptions of one symbol that begin after `start`, on an open socket; everything that they do is recorded. */
const open = (start?: number, { room = 1_000, wanted = symbol }: { room?: number; wanted?: string } = {}) => {
  const items: Item[] = []
  const sent: Record<string, unknown>[] = []
  const failures: FxdError[] = []
  const warnings: object[] = []
  const toRead: Followed[] = []
  const asked: (readonly string[])[] = []
  let ranges: readonly Range[] = []
  const subscriptions = new Subscriptions([wanted], {
    startOf: () => start,
    clocks: { newestClosed: () => minute(16), saw: () => undefined } as unknown as Clocks,
    liveness: new Liveness(),
    logger: { warn: (_, fields) => void warnings.push(fields) },
    withRevisions: false,
    give: (each) => items.length < room && items.push(each) > 0,
    began: () => undefined,
    send: (message) => void sent.push(JSON.parse(JSON.stringify(message)) as Record<string, unknown>),
    fail: (error) => void failures.push(error),
    coverage: (symbols) => {
      asked.push(symbols)
      return Promise.resolve({ [symbol]: ranges })
    },
    readHistory: (followed) => void toRead.push(followed),
  })
  subscriptions.opened()
  const subscribed = (since?: number) =>
    subscriptions.received({
      type: 'subscribed',
      symbols: [symbol],
      rejected: [],
      ...(since === undefined ? {} : { since: { [symbol]: since } }),
    })
  const gap = (after: number) =>
    subscriptions.received({ type: 'error', code: 'GAP', message: '', gaps: [{ symbol, after }] })
  const push = (time: number) => subscriptions.received({ type: 'bar', symbol, bar: bar(time) })
  /** Moves the clock by seconds, with a tick each. */
  const pass = (seconds: number): void => {
    for (let i = 0; i < seconds; i++) {
      vi.advanceTimersByTime(1_000)
      subscriptions.tick()
    }
  }
  /** The same, with this coverage, and what the answer to its question begins. */
  const passCovered = async (seconds: number, ...covered: readonly Range[]) => {
    ranges = covered
    for (let i = 0; i < seconds; i++) {
      pass(1)
      await Promise.resolve()
      await Promise.resolve()
    }
  }
  const reopen = () => {
    subscriptions.closed()
    subscriptions.opened()
    subscribed(minute(1))
  }
  const revised = (to: number) =>
    subscriptions.received({ type: 'revised', symbol, resolution: '1', from: minute(2), to })
  return {
    subscriptions,
    items,
    sent,
    failures,
    warnings,
    toRead,
    asked,
    subscribed,
    gap,
    push,
    pass,
    passCovered,
    reopen,
    revised,
  }
}

test('bars come once and ascending, and those before the answer to the subscription are not given', () => {
  const { items, sent, subscribed, push } = open(minute(0))
  expect(sent).toMatchObject([{ action: 'subscribe', symbols: [symbol], since: { [symbol]: minute(0) } }])
  push(minute(2))
  subscribed(minute(0))
  for (const n of [1, 2, 2, 1, 3]) push(minute(n))
  expect(items).toEqual([1, 2, 3].map((n) => item(minute(n))))
})

test('rows of one frame are bars of their feed', () => {
  const { subscriptions, items, subscribed } = open(minute(0))
  subscribed(minute(0))
  subscriptions.received({
    type: 'bars',
    feed: 'A:B',
    time: minute(1),
    bars: [
      ['C', 1, 1, 1, 1, 1],
      ['D', 2, 2, 2, 2, 2],
    ],
  })
  expect(items).toEqual([item(minute(1))])
})

test('after a GAP the symbol is subscribed again after its last bar, and live bars wait for the replay', () => {
  const { items, sent, subscribed, gap, push, pass } = open(minute(0))
  subscribed(minute(0))
  push(minute(1))
  gap(minute(1))
  push(minute(5))
  expect(sent.at(-1)).toEqual({ action: 'unsubscribe', symbols: [symbol] })
  pass(2)
  expect(sent.at(-1)).toMatchObject({ action: 'subscribe', since: { [symbol]: minute(1) } })
  push(minute(6))
  subscribed(minute(1))
  for (const n of [2, 3, 4, 5, 6]) push(minute(n))
  expect(items).toEqual([1, 2, 3, 4, 5, 6].map((n) => item(minute(n))))
})

test('a range that stays missing for two minutes is an unfilled gap, and bars go on behind it', () => {
  const { items, sent, subscribed, gap, push, pass } = open(minute(0))
  subscribed(minute(0))
  push(minute(1))
  for (let seconds = 0; seconds < 120; seconds += 10) {
    gap(minute(1))
    pass(10)
    subscribed(minute(1))
  }
  expect(items).toEqual([item(minute(1))])
  gap(minute(1))
  pass(30)
  expect(items.slice(1)).toEqual([
    { type: 'gap', symbol, from: minute(2), to: minute(16), reason: 'unfilled' },
  ])
  expect(sent.at(-1)).toMatchObject({ action: 'subscribe', since: { [symbol]: minute(16) } })
  subscribed(minute(16))
  push(minute(17))
  expect(items.slice(2)).toEqual([item(minute(17))])
})

test('a bar that comes ends the two minutes, and a later GAP begins new ones', () => {
  const { items, subscribed, gap, push, pass } = open(minute(0))
  subscribed(minute(0))
  gap(minute(0))
  pass(100)
  subscribed(minute(0))
  push(minute(1))
  gap(minute(1))
  pass(100)
  expect(items).toEqual([item(minute(1))])
})

test.for([-3_600, 3_600])(
  'after a GAP, a clock that is set by %i s neither delays the symbol nor gives it up',
  (seconds) => {
    const { items, sent, subscribed, gap, pass } = open(minute(0))
    subscribed(minute(0))
    gap(minute(0))
    vi.setSystemTime(Date.now() + 1_000 * seconds)
    pass(10)
    expect(sent.at(-1)).toMatchObject({ action: 'subscribe', since: { [symbol]: minute(0) } })
    expect(items).toEqual([])
  },
)

test('a start beyond the reach of the service is read from history up to an hour into the reach', () => {
  const { subscriptions, items, sent, toRead, subscribed, push } = open(minute(0))
  subscribed(minute(10))
  expect(sent.at(-1)).toEqual({ action: 'unsubscribe', symbols: [symbol] })
  push(minute(11))
  const [followed] = toRead
  expect(followed).toMatchObject({ since: minute(0), historyTo: minute(70) })
  subscriptions.giveHistory(followed!, bar(minute(3)))
  subscriptions.historyRead(followed!)
  expect(sent.at(-1)).toMatchObject({ action: 'subscribe', since: { [symbol]: minute(70) } })
  subscribed(minute(70))
  push(minute(71))
  expect(items).toEqual([item(minute(3)), item(minute(71))])
})

test('a bar for which there is no room is asked for again on the next socket', () => {
  const { subscriptions, sent, subscribed, push } = open(minute(0), { room: 1 })
  subscribed(minute(0))
  push(minute(1))
  push(minute(2))
  subscriptions.closed()
  subscriptions.opened()
  expect(sent.at(-1)).toMatchObject({ since: { [symbol]: minute(1) } })
})

test('a symbol without bars is asked for from the newest complete minute that is surely over', () => {
  const { subscriptions, sent, subscribed } = open(minute(0))
  subscribed(minute(0))
  subscriptions.received({ type: 'minute', feed: 'A:B', time: minute(100) })
  subscriptions.closed()
  subscriptions.opened()
  expect(sent.at(-1)).toMatchObject({ since: { [symbol]: minute(40) } })
})

test('a symbol that was accepted and is rejected later is asked for again after a minute', () => {
  const { subscriptions, sent, failures, subscribed, pass } = open(minute(0))
  subscribed(minute(0))
  subscriptions.closed()
  subscriptions.opened()
  subscriptions.received({ type: 'subscribed', symbols: [], rejected: [symbol] })
  const before = sent.length
  pass(59)
  expect(sent).toHaveLength(before)
  pass(2)
  expect(sent.at(-1)).toMatchObject({ action: 'subscribe', since: { [symbol]: minute(0) } })
  expect(failures).toEqual([])
})

test('a withdrawn grant and a message that the service does not understand end the stream', () => {
  const { subscriptions, failures } = open(minute(0))
  subscriptions.received({ type: 'unsubscribed', symbols: [symbol], reason: 'SYMBOL_NOT_PERMITTED' })
  subscriptions.received({ type: 'error', code: 'BAD_MESSAGE', message: 'symbols is missing' })
  expect(failures.map(({ code }) => code)).toEqual(['SYMBOL_NOT_PERMITTED', 'BAD_MESSAGE'])
})

test('symbols of a whole feed are given from the start on, also after they were read from history', () => {
  const { subscriptions, items, sent, toRead, subscribed, push, pass } = open(minute(0), { wanted: 'A:B' })
  expect(sent).toMatchObject([{ action: 'subscribe', feeds: ['A:B'], symbols: [] }])
  subscribed()
  push(minute(9))
  expect(sent.at(-1)).toEqual({ action: 'unsubscribe', symbols: [symbol] })
  pass(1)
  expect(sent.at(-1)).toMatchObject({
    action: 'subscribe',
    symbols: [symbol],
    since: { [symbol]: minute(0) },
  })
  subscribed(minute(20))
  subscriptions.closed()
  subscriptions.opened()
  subscribed()
  push(minute(30))
  subscriptions.historyRead(toRead[0]!)
  expect(sent.slice(-2)).toMatchObject([
    { action: 'unsubscribe', symbols: [symbol] },
    { action: 'subscribe', since: { [symbol]: minute(80) } },
  ])
  expect(items).toEqual([])
})

test('rejected symbols of a whole feed are logged, and give bars once they join', () => {
  const { subscriptions, items, failures, warnings, subscribed, push } = open(undefined, { wanted: 'A:B' })
  subscriptions.received({ type: 'subscribed', symbols: ['A:B:OTHER'], rejected: [symbol] })
  expect(warnings).toEqual([{ symbols: symbol, why: expect.stringContaining('not granted') as unknown }])
  subscribed()
  push(minute(17))
  expect(items).toEqual([item(minute(17))])
  expect(failures).toEqual([])
})

test('a rejected whole feed, and a rejected symbol of another feed, end the stream', () => {
  const whole = open(undefined, { wanted: 'A:B' })
  whole.subscriptions.received({ type: 'subscribed', symbols: [], rejected: [], rejected_feeds: ['A:B'] })
  const one = open()
  one.subscriptions.received({ type: 'subscribed', symbols: [], rejected: [symbol] })
  const codes = [...whole.failures, ...one.failures].map(({ code }) => code)
  expect(codes).toEqual(['SYMBOL_REJECTED', 'SYMBOL_REJECTED'])
})

test('a symbol that joins a feed without a start is live at once', () => {
  const { items, subscribed, push } = open(undefined, { wanted: 'A:B' })
  subscribed()
  push(minute(17))
  expect(items).toEqual([item(minute(17))])
})

test('the first bar of a new socket waits for the minutes before it, until coverage has them', async () => {
  const { items, sent, asked, subscribed, push, passCovered, reopen } = open(minute(0))
  subscribed(minute(0))
  push(minute(1))
  reopen()
  push(minute(4))
  await passCovered(1, { from: minute(0), to: minute(1) }, { from: minute(4), to: minute(4) })
  expect(sent.at(-1)).toMatchObject({ action: 'subscribe', since: { [symbol]: minute(1) } })
  subscribed(minute(1))
  for (const n of [2, 4]) push(minute(n))
  expect(items).toEqual([1, 2].map((n) => item(minute(n))))
  await passCovered(9, { from: minute(0), to: minute(4) })
  subscribed(minute(2))
  for (const n of [4, 5]) push(minute(n))
  expect(items.slice(2)).toEqual([4, 5].map((n) => item(minute(n))))
  expect(asked).toEqual([[symbol], [symbol]])
})

test('minutes that come before the first bar of a new socket need no coverage', async () => {
  const { items, subscribed, push, passCovered, reopen } = open(minute(0))
  subscribed(minute(0))
  push(minute(1))
  reopen()
  push(minute(3))
  await passCovered(1)
  subscribed(minute(1))
  for (const n of [2, 3, 4]) push(minute(n))
  expect(items).toEqual([1, 2, 3, 4].map((n) => item(minute(n))))
})

test('minutes that coverage lacks for two minutes are gaps between the bars that came', async () => {
  const { items, subscribed, push, passCovered, reopen } = open(minute(0))
  subscribed(minute(0))
  push(minute(1))
  reopen()
  push(minute(6))
  const covered = [1, 4, 6].map((n) => ({ from: minute(n), to: minute(n) }))
  for (let i = 0; i < 13; i++) {
    await passCovered(10, ...covered)
    subscribed(minute(1))
    for (const n of [4, 6]) push(minute(n))
  }
  const gap = { type: 'gap', symbol, reason: 'unfilled' }
  expect(items).toEqual([
    item(minute(1)),
    { ...gap, from: minute(2), to: minute(3) },
    item(minute(4)),
    { ...gap, from: minute(5), to: minute(5) },
    item(minute(6)),
  ])
})

test('later bars that a revised frame names are asked for before live ones', () => {
  const { items, sent, subscribed, push, pass, revised } = open(minute(0))
  subscribed(minute(0))
  push(minute(1))
  revised(minute(1))
  push(minute(2))
  revised(minute(4))
  push(minute(5))
  pass(1)
  expect(sent.at(-1)).toMatchObject({ action: 'subscribe', since: { [symbol]: minute(2) } })
  subscribed(minute(2))
  for (const n of [3, 4, 5]) push(minute(n))
  expect(items).toEqual([1, 2, 3, 4, 5].map((n) => item(minute(n))))
})

test('for two minutes each bar of a new socket waits for the minutes before it, then only the first one', async () => {
  const { items, sent, subscribed, push, passCovered, reopen } = open(minute(0))
  subscribed(minute(0))
  push(minute(1))
  reopen()
  push(minute(2))
  push(minute(4))
  expect(items.at(-1)).toEqual(item(minute(2)))
  await passCovered(1)
  subscribed(minute(2))
  push(minute(3))
  await passCovered(121)
  push(minute(4))
  push(minute(6))
  expect(items.at(-1)).toEqual(item(minute(6)))
  expect(sent.at(-1)).toMatchObject({ action: 'subscribe', since: { [symbol]: minute(2) } })
})
