import type { Writable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as ws from 'ws'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import type { Bar } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../core/feeds/compound-key.ts'
import { LiveSymbol } from '../live/live-symbol.ts'
import { FanOut } from './fan-out.ts'
import { barsPerFrameMax } from './gathering.ts'
import { Subscriptions } from './subscriptions.ts'

const feeds = [feedKey('BROKERA', 'ZERO'), feedKey('BROKERB', 'LIVE')] as const

/** The frame parser of a client library; exported, but missing in its types. */
const { Receiver } = ws as unknown as { Receiver: new (options: { isServer: boolean }) => Writable }

interface BarsMessage {
  readonly type: string
  readonly feed: string
  readonly time: number
  readonly bars: readonly [string, number, number, number, number, number][]
}

/** Two sockets with the same subscriptions: the first gets single frames, the second rows. */
function open() {
  const subscriptions = new Subscriptions()
  const received = ['', '']
  const fanOut = new FanOut(
    createVirtualClock(),
    subscriptions,
    (row, frames) => {
      received[row] += frames.toString('latin1')
      return true
    },
    () => undefined,
  )
  const [single, rows] = [subscriptions.openRow(), subscriptions.openRow()]
  subscriptions.formats.choose(rows, 'rows')
  const symbol = (feed: 0 | 1, name: string): LiveSymbol => {
    const key = compoundKey(feeds[feed], name)
    return new LiveSymbol(subscriptions.symbols.idOf(key), key)
  }
  const subscribe = ({ id }: LiveSymbol): void => {
    for (const row of [single, rows]) subscriptions.add(row, id)
  }
  const push = (feed: 0 | 1, live: LiveSymbol, bar: Bar): void => {
    fanOut.push(live.id, live.frame(bar))
    fanOut.pushEntry(live.id, feeds[feed], bar.time, live.entry(bar))
  }
  const messages = (row: number): string[] => {
    const found: string[] = []
    const receiver = new Receiver({ isServer: false })
    receiver.on('message', (data: Buffer) => found.push(String(data)))
    receiver.write(Buffer.from(received[row] as string, 'latin1'))
    return found
  }
  return {
    symbol,
    subscribe,
    push,
    flush: () => fanOut.flush(),
    singles: () => messages(single),
    joined: () => messages(rows).map((text) => JSON.parse(text) as BarsMessage),
    joinedTexts: () => messages(rows),
  }
}

const aBar = (minute: number): Bar => ({
  time: feedSeconds(minute * 60),
  open: 1.5,
  high: 2,
  low: 1e-7,
  close: 1.25,
  volume: 9,
})

test('bars of one feed and one time come in one frame, with the numbers of single frames', () => {
  const { symbol, subscribe, push, flush, joinedTexts } = open()
  const [a, b, c] = [symbol(0, 'A'), symbol(0, 'B:é"'), symbol(0, 'C')]
  for (const each of [a, b]) subscribe(each)
  for (const each of [a, b, c]) push(0, each, aBar(1))
  flush()
  expect(joinedTexts()).toEqual([
    '{"type":"bars","feed":"BROKERA:ZERO","time":60,"bars":[["A",1.5,2,1e-7,1.25,9],["B:é\\"",1.5,2,1e-7,1.25,9]]}',
  ])
})

test('a frame has at most 1,000 bars, whatever the length of its header', () => {
  const { symbol, subscribe, push, flush, joined } = open()
  const all = Array.from({ length: 2 * barsPerFrameMax + 1 }, (_, n) =>
    symbol(0, `${'LONG_NAME_'.repeat(8)}${n}`),
  )
  for (const each of all) subscribe(each)
  for (const each of all) push(0, each, aBar(1))
  flush()
  expect(joined().map(({ bars }) => bars.length)).toEqual([1_000, 1_000, 1])
})

test('later times follow earlier ones, although a later one arrived first', () => {
  const { symbol, subscribe, push, flush, joined } = open()
  const [a, b] = [symbol(0, 'A'), symbol(0, 'B')]
  for (const each of [a, b]) subscribe(each)
  push(0, a, aBar(2))
  push(0, b, aBar(1))
  push(0, b, aBar(2))
  flush()
  expect(joined().map(({ time, bars }) => [time, bars.map(([name]) => name)])).toEqual([
    [60, ['B']],
    [120, ['A', 'B']],
  ])
})

test('a socket gets the same bars as with single frames, each symbol in the same order', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true })
  const step = fc.record({
    feed: fc.constantFrom(0 as const, 1 as const),
    name: fc.constantFrom('A', 'B', 'C', 'D.x'),
    gap: fc.integer({ min: 1, max: 3 }),
    prices: fc.tuple(number, number, number, number),
    volume: fc.maxSafeNat(),
    isFlushed: fc.boolean(),
  })
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.subarray(['0A', '0B', '0C', '0D.x', '1A', '1B', '1C', '1D.x']),
      (steps, wanted) => {
        const { symbol, subscribe, push, flush, singles, joined } = open()
        const symbols = new Map<string, { live: LiveSymbol; minute: number }>()
        for (const { feed, name, gap, prices, volume, isFlushed } of steps) {
          const id = `${feed}${name}`
          const known = symbols.get(id) ?? { live: symbol(feed, name), minute: 0 }
          if (!symbols.has(id) && wanted.includes(id)) subscribe(known.live)
          symbols.set(id, known)
          known.minute += gap
          const [one, high, low, close] = prices
          push(feed, known.live, {
            time: feedSeconds(known.minute * 60),
            open: one,
            high,
            low,
            close,
            volume,
          })
          if (isFlushed) flush()
        }
        flush()
        const bySymbol = (bars: readonly (readonly [string, ...number[]])[]) =>
          Object.fromEntries(Map.groupBy(bars, ([key]) => key))
        const expected = singles().map((text) => {
          const { symbol: key, bar } = JSON.parse(text) as { symbol: string; bar: Bar }
          return [key, bar.time, bar.open, bar.high, bar.low, bar.close, bar.volume] as const
        })
        const got = joined().flatMap(({ feed, time, bars }) =>
          bars.map(([name, ...numbers]) => [`${feed}:${name}`, time, ...numbers] as const),
        )
        expect(bySymbol(got)).toEqual(bySymbol(expected))
      },
    ),
  )
})
