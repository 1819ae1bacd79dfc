import { expect, test } from 'vitest'
import { CollectorFixture, day, minute, minutes } from '../../../test/support/fixtures/collector-fixture.ts'
import { fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { noBars } from '../../core/bars/bar.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { sourceBarsMax } from '../source.ts'

const suite = new CollectorFixture({ clock: { mode: 'Measured' } })
/** Timeout for a busy machine. */
const patient = { timeout: 8_000 }
/** Far more bars than one message has. */
const historyMinutes = 3_500
/** More messages than a series may have holes. */
const yearsOfMinutes = 270_000

/** A followed folder that is read before the first tick, as on a weekend. */
function startWithoutTicks(count = historyMinutes) {
  const source = suite.terminal([fakeSymbol('EURUSD.z')], 'whole')
  const to = feedSeconds(suite.noon - 7 * day)
  const from = feedSeconds(to - count * minute)
  source.ticks = false
  source.read = async function* () {
    const pieceSeconds = sourceBarsMax * minute
    for (let at: FeedSeconds = from; at < to; at = feedSeconds(at + pieceSeconds))
      yield { bars: this.bars('1', at, Math.min(to, at + pieceSeconds)) }
    yield { bars: noBars, complete: { from, to } }
  }
  suite.collect(source)
  return { source, from, to }
}

/** Waits until ingest has the tick: the clock of the tests is faster than the network of a busy machine. */
async function received(tick: FeedSeconds): Promise<void> {
  const { key } = suite.feed
  const newest = async () => (await suite.fixture.stores.board.read([key])).get(key)?.newestTick
  await expect.poll(newest, patient).toBe(tick)
}

/** Measures the clock: three ticks in two minutes, with less than 90 s between them. */
async function measure(tick: (time: FeedSeconds) => void): Promise<void> {
  for (let i = 0; i < 5; i++) {
    const time = feedSeconds(suite.clock.utcMs() / 1_000)
    tick(time)
    await suite.clock.advance(45_000)
    await received(time)
  }
}

test('years of history are claimed without gaps while the clock is unknown', async () => {
  const { from, to } = startWithoutTicks(yearsOfMinutes)
  await expect.poll(() => suite.windows(), { timeout: 40_000 }).toEqual([['EURUSD', from, to - minute]])
})

test('the last bar of history is stored and claimed once the clock is known', async () => {
  const { source, from, to } = startWithoutTicks()
  await expect.poll(() => suite.times(), patient).toEqual(minutes(from, to - minute))
  await measure((time) => source.listener.tick(time))
  await suite.clock.advance(12_000)
  await expect.poll(() => suite.times(), patient).toEqual(minutes(from, to))
  await expect.poll(() => suite.covered('EURUSD'), patient).toEqual([[from, to]])
})

test('a value that was read again while the clock was unknown is kept', async () => {
  const { source, from, to } = startWithoutTicks()
  await expect.poll(() => suite.times(), patient).toEqual(minutes(from, to - minute))
  source.shift = 7
  const later = feedSeconds(to + minute)
  source.read = async function* () {
    yield { bars: this.bars('1', from, later), complete: { from, to: later } }
  }
  source.listener.readAgain({ raw: 'EURUSD.z', resolution: '1' }, { from: feedSeconds(0), to: later })
  await expect.poll(async () => (await suite.times()).at(-1), patient).toBe(to - minute)
  await measure((time) => source.listener.tick(time))
  await suite.clock.advance(12_000)
  await expect.poll(() => suite.times(), patient).toEqual(minutes(from, later))
  const closes = (await suite.stored()).map(({ close }) => close)
  const read = [...source.bars('1', from, later).close]
  expect(closes).toEqual(read.map((close) => expect.closeTo(close, 9) as number))
})

test('a folder that was read before the clock was known gets windows of all symbols, but none over the days before', async () => {
  const { source, from, to } = startWithoutTicks()
  await expect.poll(() => suite.times(), patient).toEqual(minutes(from, to - minute))
  source.listener.watched('1', { from: feedSeconds(0), to })
  const ends: number[] = []
  for (let i = 0; i < 3; i++) {
    const end = feedSeconds(suite.clock.utcMs() / 1_000)
    source.listener.tick(end)
    source.listener.closed([source.closedBars('EURUSD.z', '1', end - minute, end)])
    // A folder reports a minute when its lines have settled, after a heartbeat.
    await suite.clock.advance(minute * 1_000)
    await received(end)
    source.listener.watched('1', { from: feedSeconds(0), to: end })
    ends.push(end)
  }
  // On a busy machine the last report may come before the collector knows the clock. A folder reports again. A bar that
  // ingest refused after a later one was sent gets a window of its own.
  const claimed = async () => {
    source.listener.watched('1', { from: feedSeconds(0), to: ends[2] as FeedSeconds })
    await suite.clock.advance(1_000)
    return (await suite.covered('EURUSD')).filter(([start]) => start > to)
  }
  await expect.poll(claimed, patient).toEqual([[ends[0], ends[2]]])
  const wide = (await suite.windows()).filter(([name]) => name === '*')
  expect(wide.at(-1)?.[2]).toBe(ends[2])
})

test('while the clock is unknown a bar that is later than the newest tick is stored, once another one closes it', async () => {
  const { source, from, to } = startWithoutTicks()
  await expect.poll(() => suite.times(), patient).toEqual(minutes(from, to - minute))
  const start = feedSeconds(suite.clock.utcMs() / 1_000)
  for (let i = 1; i <= 3; i++) {
    // A line comes first; its tick reaches ingest with a later heartbeat.
    await suite.clock.advance(20 * minute * 1_000)
    const end = feedSeconds(suite.clock.utcMs() / 1_000)
    source.listener.closed([source.closedBars('EURUSD.z', '1', end - minute, end)])
    source.listener.tick(feedSeconds(end - minute))
  }
  await suite.clock.advance(10_000)
  const bars = [1, 2].map((i) => feedSeconds(start + i * 20 * minute - minute))
  await expect.poll(async () => (await suite.times()).filter((time) => time >= start), patient).toEqual(bars)
})
