import { expect, test, vi } from 'vitest'
import { CollectorFixture, hour, minute } from '../../../test/support/fixtures/collector-fixture.ts'
import { FakeTerminal, fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { knownOffset } from '../../core/registry/clock-history.ts'

const suite = new CollectorFixture({ clock: { mode: 'Measured' } })
const raw = 'EURUSD.z'
/** Timeout for a busy machine. */
const patient = { timeout: 20_000 }

const utcNow = (): number => Math.floor(suite.clock.utcMs() / 1_000)
const offset = (): number | undefined => knownOffset(suite.feed, suite.fixture.registry.view())
const receivedAt = async (): Promise<number | undefined> =>
  (await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)?.receivedAt

/** A terminal whose broker's clock is `ahead` hours ahead of UTC. */
class Broker {
  readonly source = new FakeTerminal([fakeSymbol(raw)], () => this.now)
  ahead = 3

  constructor() {
    this.source.ticks = false
    suite.collect(this.source)
  }

  get now(): number {
    return utcNow() + this.ahead * hour
  }

  tick(): void {
    this.source.listener.tick(feedSeconds(this.now))
  }

  /** Ticks until the end of the minute, then reports its bar; returns the bar's time. */
  async minute(): Promise<number> {
    const endMs = suite.clock.utcMs() + minute * 1_000 - (suite.clock.utcMs() % (minute * 1_000))
    for (let left = endMs - suite.clock.utcMs(); left > 0; left = endMs - suite.clock.utcMs()) {
      this.tick()
      await suite.clock.advance(Math.min(15_000, left))
    }
    const end = this.now
    this.source.listener.closed([this.source.closedBars(raw, '1', end - minute, end)])
    this.tick()
    return end - minute
  }

  /** A broker whose clock is measured, and whose bars are live. */
  static async measured(): Promise<Broker> {
    const broker = new Broker()
    await vi.waitUntil(() => broker.source.isOpen, patient)
    const isMeasured = async () => (await broker.minute(), offset() === -3 * hour)
    await vi.waitUntil(isMeasured, patient)
    const last = await broker.minute()
    // The bar was still forming at the tick before it.
    await suite.clock.advance(2_000)
    await vi.waitUntil(() => suite.pushed().at(-1) === last, patient)
    return broker
  }
}

test('after a terminal’s clock was set back, repeated minutes are received and not pushed, and the new offset is measured', async () => {
  const broker = await Broker.measured()
  const pushed = suite.pushed()
  broker.ahead = 2
  broker.source.shift = 7
  for (let i = 0; i < 3; i++) {
    const time = await broker.minute()
    await expect.poll(receivedAt, patient).toBe(suite.clock.utcMs())
    const [bar] = broker.source.bars('1', time, time + minute).close
    await expect
      .poll(async () => (await suite.stored()).find((each) => each.time === time)?.close, patient)
      .toBeCloseTo(bar as number, 9)
  }
  await suite.clock.advance(5_000)
  await expect.poll(offset, patient).toBe(-2 * hour)
  expect(suite.pushed()).toEqual(pushed)
})

test('a bar that still forms when the clock is set back is pushed with the next one', async () => {
  const broker = await Broker.measured()
  const open = broker.now - (broker.now % minute)
  broker.source.listener.closed([broker.source.closedBars(raw, '1', open, open + minute)])
  await suite.clock.advance(60_000)
  // No tick has shown the end of the minute.
  expect(suite.pushed()).not.toContain(open)
  broker.ahead = 2
  const repeated = open - hour
  broker.source.listener.closed([broker.source.closedBars(raw, '1', repeated, repeated + minute)])
  await expect.poll(() => suite.pushed().at(-1), patient).toBe(open)
})

test('a correction of a bar that is more than two hours old does not count as received', async () => {
  const broker = await Broker.measured()
  const before = await receivedAt()
  await suite.clock.advance(30_000)
  const time = broker.now - 150 * minute
  const old = time - (time % minute)
  broker.source.shift = 3
  broker.source.listener.closed([broker.source.closedBars(raw, '1', old, old + minute)])
  const [close] = broker.source.bars('1', old, old + minute).close
  await expect
    .poll(async () => (await suite.stored()).find((each) => each.time === old)?.close, patient)
    .toBeCloseTo(close as number, 9)
  expect(await receivedAt()).toBe(before)
})
