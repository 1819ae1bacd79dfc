import { describe, expect, test } from 'vitest'
import { CollectedTerminal, patience, toldOf } from '../../../../test/support/fixtures/collected-terminal.ts'
import { day, hour, minute, minutes } from '../../../../test/support/fixtures/collector-fixture.ts'
import type { PostingTerminal } from '../../../../test/support/samples/posting-terminal.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'

const suite = new CollectedTerminal()

/** A turn of a terminal that only reads history: the answer may wait for what is wanted next. */
async function turnOf(history: PostingTerminal): Promise<void> {
  let isOver = false
  const turn = history.turn().finally(() => {
    isOver = true
  })
  while (!isOver) await suite.clock.advance(20)
  await turn
}

/** A session that sweeps and one that reads history, which is stored. */
async function sharing() {
  const { source, terminal: live } = suite.open()
  const history = suite.terminalOf(source, 100)
  suite.collect(source)
  await suite.begin(live, { role: 'Live' })
  await suite.begin(history, { role: 'History' })
  await suite.until(live, async () => {
    await turnOf(history)
    return suite.whole('EURUSD')
  })
  return { live, history }
}

describe('history', () => {
  test('is stored newest day first, and the last six hours are pushed in order', async () => {
    const { source, terminal } = suite.open()
    suite.collect(source)
    await suite.begin(terminal)
    await suite.until(terminal, () => suite.whole('EURUSD'))
    const { noon } = suite
    expect(await suite.times()).toEqual(minutes(noon - 2 * day, noon))
    expect(suite.pushed()).toEqual(minutes(noon - 6 * hour + minute, noon))
    await expect.poll(() => suite.windows(), patience).toEqual([['EURUSD', noon - 2 * day, noon]])
  })

  test('that the terminal cannot give is not claimed, and what it can give is', async () => {
    const { source, terminal } = suite.open()
    terminal.oldest = suite.noon - 30 * hour
    suite.collect(source)
    await suite.begin(terminal)
    const covered = () => suite.covered('EURUSD')
    await suite.until(terminal, async () => (await covered())[0]?.[0] === terminal.oldest)
    expect(await covered()).toEqual([[terminal.oldest, suite.noon]])
    expect(await suite.times()).toEqual(minutes(terminal.oldest, suite.noon))
  })

  test('that the terminal still loads is asked for again', async () => {
    const { source, terminal } = suite.open()
    suite.collect(source)
    await suite.begin(terminal)
    terminal.isLoading = true
    await suite.until(terminal, () => toldOf(terminal, 'want').length > 0)
    await terminal.turn()
    expect(await suite.times()).toEqual([])
    terminal.isLoading = false
    await suite.clock.advance(5_000)
    await suite.until(terminal, () => suite.whole('EURUSD'))
  })

  test('that a terminal without a connection calls complete is claimed only up to its newest tick', async () => {
    const { source, terminal } = suite.open()
    suite.collect(source)
    await suite.begin(terminal)
    await suite.until(terminal, () => toldOf(terminal, 'want').length > 0)
    await suite.clock.advance(120_000)
    const newest = toldOf(terminal, 'want').at(-1)
    if (newest?.line !== 'want') throw new Error('nothing is wanted')
    const span = { from: newest.span.from, to: feedSeconds(suite.noon + 120) }
    await terminal.post({ line: 'connected', is: false }, { line: 'complete', series: newest.series, span })
    await suite.clock.advance(1_000)
    expect(await suite.windows()).toEqual([])
    await suite.clock.advance(5_000)
    await suite.until(terminal, () => suite.whole('EURUSD'))
  })

  test('goes on where it was after a restart of the terminal in the middle of an answer', async () => {
    const { source, terminal } = suite.open()
    suite.collect(source)
    await suite.begin(terminal)
    await suite.until(terminal, () => toldOf(terminal, 'want').length > 0)
    const half = { from: suite.noon - 6 * hour + minute, to: suite.noon - 3 * hour }
    const bars = terminal.bars(half.from, half.to)
    await terminal.post({
      line: 'bars',
      series: { raw: 'EURUSD.z', resolution: '1' },
      bars,
      lastIsOpen: false,
    })
    terminal.vanish()
    await suite.begin(terminal)
    await suite.until(terminal, () => suite.whole('EURUSD'))
    expect(await suite.times()).toEqual(minutes(suite.noon - 2 * day, suite.noon))
  })
})

describe('a terminal', () => {
  test('of a collector that does not lead is told to stand by, and its bars are not taken', async () => {
    const { terminal: first } = await suite.collecting()
    const { source, terminal } = suite.open()
    suite.collect(source)
    await suite.begin(terminal)
    await suite.clock.advance(20_000)
    await first.turn()
    terminal.swept.set('EURUSD.z', suite.noon)
    expect(await terminal.post(terminal.sweep('EURUSD.z'))).toEqual([{ line: 'standby' }])
    expect(await terminal.turn()).toEqual([{ line: 'standby' }])
  })

  test('is reported as connected while one of its sessions says so', async () => {
    const { terminal } = await suite.collecting()
    const connected = async () =>
      (await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)?.heartbeatAt
    await suite.clock.advance(5_000)
    await expect.poll(connected, patience).toBe(suite.clock.utcMs())
    terminal.vanish()
    const before = await connected()
    await suite.clock.advance(10_000)
    expect(await connected()).toBe(before)
  })

  test('that only sweeps is asked for no history, and one that only reads history sweeps nothing', async () => {
    const { live, history } = await sharing()
    await suite.clock.advance(60_000)
    await suite.until(live, () => suite.pushed().includes(suite.noon))
    expect(toldOf(live, 'want')).toEqual([])
    expect(toldOf(live, 'newest')).toHaveLength(1)
    expect(toldOf(history, 'newest')).toEqual([])
  })

  test('that reads history late does not replace what the one that sweeps posted since', async () => {
    const { live, history } = await sharing()
    await suite.clock.advance(30_000)
    const { noon } = suite
    const stale = history.bar(noon)
    await suite.until(live, () => live.swept.size > 0)
    await suite.clock.advance(30_000)
    await suite.until(live, () => suite.pushed().includes(noon))
    await history.post({
      line: 'bars',
      series: { raw: 'EURUSD.z', resolution: '1' },
      bars: [stale],
      lastIsOpen: true,
    })
    live.swept.set('EURUSD.z', noon)
    await suite.clock.advance(60_000)
    await suite.until(live, () => suite.pushed().includes(noon + minute))
    const closeAtNoon = async () => (await suite.stored()).find(({ time }) => time === noon)?.close.toFixed(5)
    expect(stale.close).not.toBe(live.bar(noon).close)
    await expect.poll(closeAtNoon, patience).toBe(live.bar(noon).close)
  })

  test('gets symbols that appear late collected, and those that vanish are not claimed any more', async () => {
    const { terminal } = await suite.collecting()
    terminal.symbols = ['EURUSD.z', 'GBPUSD.z']
    await terminal.post(...terminal.catalogue())
    await suite.until(terminal, () => suite.whole('GBPUSD'))
    await suite.clock.advance(60_000)
    await suite.until(terminal, () => suite.pushed().filter((time) => time === suite.noon).length === 2)
    terminal.symbols = ['GBPUSD.z']
    await terminal.post(...terminal.catalogue())
    const listed = () =>
      suite.fixture.registry
        .view()
        .symbolsOf(suite.feed.key)
        .filter(({ since }) => since !== undefined)
        .map(({ name }) => name)
    await expect.poll(listed, patience).toEqual(['GBPUSD'])
  })

  test('whose catalogue is not whole is asked for it again, and no symbol is lost', async () => {
    const { terminal } = await suite.collecting()
    const asked = toldOf(terminal, 'symbols').length
    await terminal.post({ line: 'catalogue', count: 1 })
    await suite.clock.advance(10_000)
    await terminal.turn()
    expect(toldOf(terminal, 'symbols')).toHaveLength(asked + 1)
    expect(suite.fixture.registry.view().symbolsOf(suite.feed.key)).toMatchObject([{ hidden: false }])
  })

  test('that reports old ticks after a reconnect does not move the clock back', async () => {
    const { terminal } = await suite.collecting()
    const newest = async () =>
      (await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)?.newestTick
    await suite.clock.advance(5_000)
    const tick = feedSeconds(suite.noon + 3)
    await terminal.post({ line: 'tick', time: tick, raw: 'EURUSD.z' })
    await terminal.post({ line: 'tick', time: feedSeconds(suite.noon - 3 * hour), raw: 'EURUSD.z' })
    await suite.clock.advance(5_000)
    await expect.poll(newest, patience).toBe(tick)
  })
})
