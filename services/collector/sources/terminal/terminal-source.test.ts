import { describe, expect, test } from 'vitest'
import {
  CollectorFixture,
  day,
  hour,
  minute,
  minutes,
} from '../../../../test/support/fixtures/collector-fixture.ts'
import { MemoryFolder } from '../../../../test/support/fixtures/memory-folder.ts'
import { createTerminalSource } from '../../../../test/support/fixtures/terminal-source-fixture.ts'
import { PostingTerminal } from '../../../../test/support/samples/posting-terminal.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { silentLog } from '../../../platform/log/log.ts'
import { openSpool } from '../../spool/spool.ts'
import { NotTaken } from './terminal-feed.ts'

const suite = new CollectorFixture({ source: { type: 'Terminal' } })
/** Timeout for a busy machine. */
const patience = { timeout: 20_000, interval: 5 }

function open() {
  const { feed: definition, clock } = suite
  const source = createTerminalSource(definition, clock)
  const terminal = new PostingTerminal(source, () => Math.floor(clock.utcMs() / 1_000))
  return { source, terminal }
}

/** Lets the terminal post until the condition holds. */
async function until(terminal: PostingTerminal, holds: () => boolean | Promise<boolean>): Promise<void> {
  const check = async (): Promise<boolean> => {
    await terminal.turn()
    return holds()
  }
  await expect.poll(check, patience).toBe(true)
}

/** A turn of a terminal that only reads history: the answer may wait for what is wanted next. */
async function turnOf(history: PostingTerminal): Promise<void> {
  let isOver = false
  const turn = history.turn().finally(() => {
    isOver = true
  })
  while (!isOver) await suite.clock.advance(20)
  await turn
}

/** Begins a session once the source is open. */
async function begin(terminal: PostingTerminal, hello: Parameters<PostingTerminal['begin']>[0] = {}) {
  await expect.poll(() => terminal.begin(hello).then(Boolean, () => false), patience).toBe(true)
}

const whole = async (name: string): Promise<boolean> =>
  ((await suite.covered(name))[0]?.[0] ?? suite.noon) <= suite.noon - 2 * day + minute

/** A collector with its terminal, whose history is stored. */
async function collecting(more: Parameters<typeof suite.collect>[1] = {}, symbols = ['EURUSD.z']) {
  const { source, terminal } = open()
  terminal.symbols = symbols
  suite.collect(source, more)
  await begin(terminal)
  for (const raw of symbols) await until(terminal, () => whole(raw.replace('.z', '')))
  // Series that ingest has not listed at once are tried again each second.
  await suite.clock.advance(1_000)
  await until(terminal, () => terminal.swept.size === symbols.length)
  suite.fixture.events.length = 0
  return { source, terminal }
}

const spoolIn = (folder: MemoryFolder) =>
  openSpool({ folder, clock: suite.clock, log: silentLog, bytesMax: 1_000_000, ageMaxMs: 3_600_000 })

/** Bars that ingest has taken so far, by outcome. */
const ingested = (outcome: string): Promise<number> =>
  suite.fixture.metrics.total('fxd_ingest_bars_total', { outcome })

const toldOf = (terminal: PostingTerminal, line: string) => terminal.told.filter((each) => each.line === line)

describe('history', () => {
  test('is stored newest day first, and the last six hours are pushed in order', async () => {
    const { source, terminal } = open()
    suite.collect(source)
    await begin(terminal)
    await until(terminal, () => whole('EURUSD'))
    const { noon } = suite
    expect(await suite.times()).toEqual(minutes(noon - 2 * day, noon))
    expect(suite.pushed()).toEqual(minutes(noon - 6 * hour + minute, noon))
    await expect.poll(() => suite.windows(), patience).toEqual([['EURUSD', noon - 2 * day, noon]])
  })

  test('that the terminal cannot give is not claimed, and what it can give is', async () => {
    const { source, terminal } = open()
    terminal.oldest = suite.noon - 30 * hour
    suite.collect(source)
    await begin(terminal)
    const covered = () => suite.covered('EURUSD')
    await until(terminal, async () => (await covered())[0]?.[0] === terminal.oldest)
    expect(await covered()).toEqual([[terminal.oldest, suite.noon]])
    expect(await suite.times()).toEqual(minutes(terminal.oldest, suite.noon))
  })

  test('that the terminal still loads is asked for again', async () => {
    const { source, terminal } = open()
    suite.collect(source)
    await begin(terminal)
    terminal.isLoading = true
    await until(terminal, () => toldOf(terminal, 'want').length > 0)
    await terminal.turn()
    expect(await suite.times()).toEqual([])
    terminal.isLoading = false
    await suite.clock.advance(5_000)
    await until(terminal, () => whole('EURUSD'))
  })

  test('that a terminal without a connection calls complete is claimed only up to its newest tick', async () => {
    const { source, terminal } = open()
    suite.collect(source)
    await begin(terminal)
    await until(terminal, () => toldOf(terminal, 'want').length > 0)
    await suite.clock.advance(120_000)
    const newest = toldOf(terminal, 'want').at(-1)
    if (newest?.line !== 'want') throw new Error('nothing is wanted')
    const span = { from: newest.span.from, to: feedSeconds(suite.noon + 120) }
    await terminal.post({ line: 'connected', is: false }, { line: 'complete', series: newest.series, span })
    await suite.clock.advance(1_000)
    expect(await suite.windows()).toEqual([])
    await suite.clock.advance(5_000)
    await until(terminal, () => whole('EURUSD'))
  })

  test('goes on where it was after a restart of the terminal in the middle of an answer', async () => {
    const { source, terminal } = open()
    suite.collect(source)
    await begin(terminal)
    await until(terminal, () => toldOf(terminal, 'want').length > 0)
    const half = { from: suite.noon - 6 * hour + minute, to: suite.noon - 3 * hour }
    const bars = terminal.bars(half.from, half.to)
    await terminal.post({
      line: 'bars',
      series: { raw: 'EURUSD.z', resolution: '1' },
      bars,
      lastIsOpen: false,
    })
    terminal.vanish()
    await begin(terminal)
    await until(terminal, () => whole('EURUSD'))
    expect(await suite.times()).toEqual(minutes(suite.noon - 2 * day, suite.noon))
  })
})

describe('live bars', () => {
  test('are pushed once with their last value, and claimed for all symbols', async () => {
    const { terminal } = await collecting()
    const { noon } = suite
    for (let i = 0; i < 3; i++) {
      await suite.clock.advance(30_000)
      await terminal.turn()
      await suite.clock.advance(30_000)
      await until(terminal, () => suite.pushed().length === i + 1)
    }
    expect(suite.pushed()).toEqual(minutes(noon, noon + 3 * minute))
    const closes = async () => (await suite.stored()).slice(-3).map(({ close }) => close.toFixed(5))
    const last = minutes(noon, noon + 3 * minute).map((time) => terminal.bar(time).close)
    await expect.poll(closes, patience).toEqual(last)
    await expect.poll(() => suite.covered('EURUSD'), patience).toEqual([[noon - 2 * day, noon + 3 * minute]])
  })

  test('of an hour without the terminal are pushed in order when it is back, without a gap in coverage', async () => {
    const { terminal } = await collecting()
    const { noon } = suite
    terminal.vanish()
    for (let i = 0; i < 60; i++) await suite.clock.advance(60_000)
    await terminal.begin()
    await until(terminal, () => suite.pushed().length >= 60)
    expect(suite.pushed()).toEqual(minutes(noon, noon + hour))
    await suite.clock.advance(60_000)
    await until(terminal, async () => ((await suite.covered('EURUSD')).at(-1)?.[1] ?? 0) > noon + hour)
    expect(await suite.covered('EURUSD')).toEqual([[noon - 2 * day, noon + hour + minute]])
  })

  test('of a series that the terminal cannot read yet are not claimed until they come, and those of others are', async () => {
    const { terminal } = await collecting({}, ['EURUSD.z', 'GBPUSD.z'])
    const { noon } = suite
    const end = async (name: string) => (await suite.covered(name)).at(-1)?.[1]
    await suite.clock.advance(60_000)
    await until(terminal, async () => (await end('GBPUSD')) === noon + minute)
    await suite.clock.advance(60_000)
    await terminal.post(
      { line: 'connected', is: true },
      { line: 'tick', time: feedSeconds(noon + 2 * minute), raw: 'EURUSD.z' },
      terminal.sweep('EURUSD.z'),
      { line: 'late', series: { raw: 'GBPUSD.z', resolution: '1' } },
      { line: 'watched', resolution: '1', to: feedSeconds(noon + 2 * minute) },
    )
    await expect.poll(() => end('EURUSD'), patience).toBe(noon + 2 * minute)
    expect(await end('GBPUSD')).toBe(noon + minute)
    expect(suite.pushed()).toEqual([noon, noon, noon + minute])
    await suite.clock.advance(60_000)
    await until(terminal, async () => (await end('GBPUSD')) === noon + 3 * minute)
    expect(await suite.times('GBPUSD')).toContain(noon + minute)
    expect((await suite.covered('GBPUSD')).length).toBe(1)
  })

  test('with a fault in a value are neither stored nor claimed, and those around them are', async () => {
    const { terminal } = await collecting()
    const { noon } = suite
    await suite.clock.advance(3 * 60_000)
    const sweep = terminal.sweep('EURUSD.z')
    if (sweep.line !== 'bars') throw new Error('a sweep has bars')
    const bars = sweep.bars.map((bar, i) => (i === 1 ? { ...bar, high: '0.00001' } : bar))
    const to = feedSeconds(noon + 3 * minute)
    await terminal.post(
      { line: 'connected', is: true },
      { line: 'tick', time: to, raw: 'EURUSD.z' },
      { ...sweep, bars },
      { line: 'watched', resolution: '1', to },
    )
    await expect.poll(() => suite.pushed(), patience).toEqual([noon, noon + 2 * minute])
    await expect
      .poll(() => suite.covered('EURUSD'), patience)
      .toEqual([
        [noon - 2 * day, noon + minute],
        [noon + 2 * minute, to],
      ])
    expect(await suite.times()).not.toContain(noon + minute)
  })

  test('that the terminal sends again cost nothing, and a corrected one is stored and not pushed', async () => {
    const { terminal } = await collecting()
    const { noon } = suite
    await suite.clock.advance(3 * 60_000)
    await until(terminal, () => suite.pushed().length === 3)
    const unchanged = await ingested('unchanged')
    for (let i = 0; i < 3; i++) {
      terminal.swept.set('EURUSD.z', noon)
      await terminal.turn()
    }
    terminal.shift = 3
    terminal.swept.set('EURUSD.z', noon)
    await terminal.turn()
    const closeAtNoon = async () => (await suite.stored()).find(({ time }) => time === noon)?.close.toFixed(5)
    await expect.poll(closeAtNoon, patience).toBe(terminal.bar(noon).close)
    expect(suite.pushed()).toEqual(minutes(noon, noon + 3 * minute))
    expect(await ingested('unchanged')).toBe(unchanged)
  })

  test('that the disk refuses are not taken, and are pushed once when the terminal posts them again', async () => {
    const folder = new MemoryFolder()
    const spool = await spoolIn(folder)
    const { terminal } = await collecting({ spool })
    await suite.clock.advance(60_000)
    let isFull = true
    folder.beforeSync = () => {
      if (isFull) throw new Error('no space left on device')
    }
    await expect(terminal.turn()).rejects.toBeInstanceOf(NotTaken)
    isFull = false
    terminal.swept.set('EURUSD.z', suite.noon)
    await until(terminal, () => suite.pushed().length > 0)
    expect(suite.pushed()).toEqual([suite.noon])
    await spool.close()
  })

  test('while ingest is away are on the disk when they are taken, and pushed in order after its return', async () => {
    const folder = new MemoryFolder()
    const spool = await spoolIn(folder)
    const { terminal } = await collecting({ spool })
    const { noon } = suite
    await suite.restart(undefined, async () => {
      for (let i = 1; i <= 3; i++) {
        await suite.clock.advance(60_000)
        const writes = folder.writes
        await terminal.turn()
        expect(folder.writes).toBe(writes + 1)
      }
    })
    const isBack = async (): Promise<boolean> => {
      await suite.clock.advance(500)
      return suite.pushed().length >= 3
    }
    await expect.poll(isBack, patience).toBe(true)
    expect(suite.pushed()).toEqual(minutes(noon, noon + 3 * minute))
    await spool.close()
  })

  test('go on after a restart of the collector, with those that closed meanwhile', async () => {
    const { terminal } = await collecting()
    const { noon } = suite
    terminal.vanish()
    await suite.stopInTime()
    await suite.clock.advance(120_000)
    const { source, terminal: same } = open()
    suite.collect(source)
    await begin(same)
    const last = Math.floor(suite.clock.utcMs() / 60_000) * minute
    await until(same, () => suite.pushed().length === (last - noon) / minute)
    expect(suite.pushed()).toEqual(minutes(noon, last))
  })
})

describe('a terminal', () => {
  test('of a collector that does not lead is told to stand by, and its bars are not taken', async () => {
    const { terminal: first } = await collecting()
    const { source, terminal } = open()
    suite.collect(source)
    await begin(terminal)
    await suite.clock.advance(20_000)
    await first.turn()
    terminal.swept.set('EURUSD.z', suite.noon)
    expect(await terminal.post(terminal.sweep('EURUSD.z'))).toEqual([{ line: 'standby' }])
    expect(await terminal.turn()).toEqual([{ line: 'standby' }])
  })

  test('is reported as connected while one of its sessions says so', async () => {
    const { terminal } = await collecting()
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
    const { source, terminal: live } = open()
    const history = new PostingTerminal(source, () => Math.floor(suite.clock.utcMs() / 1_000), 100)
    suite.collect(source)
    await begin(live, { role: 'Live' })
    await begin(history, { role: 'History' })
    await until(live, async () => {
      await turnOf(history)
      return whole('EURUSD')
    })
    await suite.clock.advance(60_000)
    await until(live, () => suite.pushed().includes(suite.noon))
    expect(toldOf(live, 'want')).toEqual([])
    expect(toldOf(live, 'newest')).toHaveLength(1)
    expect(toldOf(history, 'newest')).toEqual([])
  })

  test('that reads history late does not replace what the one that sweeps posted since', async () => {
    const { source, terminal: live } = open()
    const history = new PostingTerminal(source, () => Math.floor(suite.clock.utcMs() / 1_000), 100)
    suite.collect(source)
    await begin(live, { role: 'Live' })
    await begin(history, { role: 'History' })
    await until(live, async () => {
      await turnOf(history)
      return whole('EURUSD')
    })
    await suite.clock.advance(30_000)
    const { noon } = suite
    const stale = history.bar(noon)
    await until(live, () => live.swept.size > 0)
    await suite.clock.advance(30_000)
    await until(live, () => suite.pushed().includes(noon))
    await history.post({
      line: 'bars',
      series: { raw: 'EURUSD.z', resolution: '1' },
      bars: [stale],
      lastIsOpen: true,
    })
    live.swept.set('EURUSD.z', noon)
    await suite.clock.advance(60_000)
    await until(live, () => suite.pushed().includes(noon + minute))
    const closeAtNoon = async () => (await suite.stored()).find(({ time }) => time === noon)?.close.toFixed(5)
    expect(stale.close).not.toBe(live.bar(noon).close)
    await expect.poll(closeAtNoon, patience).toBe(live.bar(noon).close)
  })

  test('gets symbols that appear late collected, and those that vanish are not claimed any more', async () => {
    const { terminal } = await collecting()
    terminal.symbols = ['EURUSD.z', 'GBPUSD.z']
    await terminal.post(...terminal.catalogue())
    await until(terminal, () => whole('GBPUSD'))
    await suite.clock.advance(60_000)
    await until(terminal, () => suite.pushed().filter((time) => time === suite.noon).length === 2)
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
    const { terminal } = await collecting()
    const asked = toldOf(terminal, 'symbols').length
    await terminal.post({ line: 'catalogue', count: 1 })
    await suite.clock.advance(10_000)
    await terminal.turn()
    expect(toldOf(terminal, 'symbols')).toHaveLength(asked + 1)
    expect(suite.fixture.registry.view().symbolsOf(suite.feed.key)).toMatchObject([{ hidden: false }])
  })

  test('that reports old ticks after a reconnect does not move the clock back', async () => {
    const { terminal } = await collecting()
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
