import { expect, test } from 'vitest'
import { CollectorFixture, minute } from '../../../../test/support/fixtures/collector-fixture.ts'
import { createTerminalSource } from '../../../../test/support/fixtures/terminal-source-fixture.ts'
import { PostingTerminal } from '../../../../test/support/samples/posting-terminal.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'

const suite = new CollectorFixture({ source: { type: 'Terminal' }, clock: { mode: 'Measured' } })
const patience = { timeout: 20_000, interval: 5 }
const aheadSeconds = 7_200

/** A terminal two hours ahead of UTC, whose ticks have shown that to ingest. */
async function measured() {
  const { feed: definition, clock } = suite
  const source = createTerminalSource(definition, clock)
  const terminal = new PostingTerminal(source, () => Math.floor(clock.utcMs() / 1_000) + aheadSeconds)
  suite.collect(source)
  await expect.poll(() => terminal.begin().then(Boolean, () => false), patience).toBe(true)
  const board = async () => (await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)
  const tick = async (): Promise<void> => {
    await terminal.turn()
    const untilMs = clock.utcMs() + 20_000
    const now = Math.floor(clock.utcMs() / 1_000) + aheadSeconds
    // Small steps: time that passes while the tick is on its way counts as part of the offset.
    const boarded = async () => {
      await clock.advance(200)
      return (await board())?.newestTick
    }
    await expect.poll(boarded, patience).toBe(now)
    await clock.advance(Math.max(0, untilMs - clock.utcMs()))
  }
  for (let i = 0; i < 12; i++) await tick()
  const pushed = async () => {
    await clock.advance(100)
    await terminal.turn()
    const forming = Math.floor((clock.utcMs() / 1_000 + aheadSeconds) / minute) * minute
    return suite.pushed().includes(forming - minute)
  }
  await expect.poll(pushed, patience).toBe(true)
  return { terminal, clock }
}

test('the last bar before the market closes is pushed five seconds after its end, without any tick since', async () => {
  const { terminal, clock } = await measured()
  await terminal.turn()
  const last = Math.floor((clock.utcMs() / 1_000 + aheadSeconds) / minute) * minute
  terminal.lastTick = Math.floor(clock.utcMs() / 1_000) + aheadSeconds
  const restMs = (last + minute - aheadSeconds) * 1_000 - clock.utcMs()
  await clock.advance(restMs + 4_000)
  await terminal.turn()
  expect(suite.pushed()).not.toContain(last)
  await clock.advance(1_000)
  const pushed = async () => {
    await terminal.turn()
    await clock.advance(100)
    return suite.pushed()
  }
  await expect.poll(pushed, patience).toContain(last)
})

test('a post that was made before the end of its bar and came late does not close the bar', async () => {
  const { terminal, clock } = await measured()
  const last = Math.floor((clock.utcMs() / 1_000 + aheadSeconds) / minute) * minute
  const revised = () => suite.fixture.metrics.total('fxd_ingest_bars_total', { outcome: 'revised' })
  const late = [{ line: 'connected', is: true }, terminal.sweep('EURUSD.z')] as const
  await clock.advance(80_000)
  await terminal.post(...late)
  // A session with ingest that ended on a busy machine begins again when the clock moves.
  const pushed = async () => {
    await terminal.turn()
    await clock.advance(100)
    return suite.pushed()
  }
  await expect.poll(pushed, patience).toContain(last)
  const close = async () => (await suite.stored()).find(({ time }) => time === last)?.close.toFixed(5)
  await expect.poll(close, patience).toBe(terminal.bar(last).close)
  expect(await revised()).toBe(0)
})

test('a bar is not pushed by the clock while the terminal has no connection to its broker', async () => {
  const { terminal, clock } = await measured()
  await terminal.turn()
  const last = Math.floor((clock.utcMs() / 1_000 + aheadSeconds) / minute) * minute
  await terminal.post({ line: 'connected', is: false })
  await clock.advance(120_000)
  await terminal.post({ line: 'connected', is: false })
  await clock.advance(1_000)
  expect(suite.pushed()).not.toContain(last)
  await terminal.post({ line: 'connected', is: true }, terminal.sweep('EURUSD.z'), {
    line: 'tick',
    time: feedSeconds(last + 2 * minute),
    raw: 'EURUSD.z',
  })
  await expect.poll(() => suite.pushed(), patience).toContain(last)
})
