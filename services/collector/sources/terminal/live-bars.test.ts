import { describe, expect, test } from 'vitest'
import { CollectedTerminal, patience } from '../../../../test/support/fixtures/collected-terminal.ts'
import { day, hour, minute, minutes } from '../../../../test/support/fixtures/collector-fixture.ts'
import { MemoryFolder } from '../../../../test/support/fixtures/memory-folder.ts'
import { openSmallSpool } from '../../../../test/support/fixtures/spool-fixture.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { NotTaken } from './terminal-feed.ts'

const suite = new CollectedTerminal()

const spoolIn = (folder: MemoryFolder) =>
  openSmallSpool(folder, { clock: suite.clock, bytesMax: 1_000_000, ageMaxMs: 3_600_000 })

/** Bars that ingest has taken so far, by outcome. */
const ingested = (outcome: string): Promise<number> =>
  suite.fixture.metrics.total('fxd_ingest_bars_total', { outcome })

describe('live bars', () => {
  test('are pushed once with their last value, and claimed for all symbols', async () => {
    const { terminal } = await suite.collecting()
    const { noon } = suite
    for (let i = 0; i < 3; i++) {
      await suite.clock.advance(30_000)
      await terminal.turn()
      await suite.clock.advance(30_000)
      await suite.until(terminal, () => suite.pushed().length === i + 1)
    }
    expect(suite.pushed()).toEqual(minutes(noon, noon + 3 * minute))
    const closes = async () => (await suite.stored()).slice(-3).map(({ close }) => close.toFixed(5))
    const last = minutes(noon, noon + 3 * minute).map((time) => terminal.bar(time).close)
    await expect.poll(closes, patience).toEqual(last)
    await expect.poll(() => suite.covered('EURUSD'), patience).toEqual([[noon - 2 * day, noon + 3 * minute]])
  })

  test('of an hour without the terminal are pushed in order when it is back, without a gap in coverage', async () => {
    const { terminal } = await suite.collecting()
    const { noon } = suite
    terminal.vanish()
    for (let i = 0; i < 60; i++) await suite.clock.advance(60_000)
    await terminal.begin()
    await suite.until(terminal, () => suite.pushed().length >= 60)
    expect(suite.pushed()).toEqual(minutes(noon, noon + hour))
    await suite.clock.advance(60_000)
    await suite.until(terminal, async () => ((await suite.covered('EURUSD')).at(-1)?.[1] ?? 0) > noon + hour)
    expect(await suite.covered('EURUSD')).toEqual([[noon - 2 * day, noon + hour + minute]])
  })

  test('of a series that the terminal cannot read yet are not claimed until they come, and those of others are', async () => {
    const { terminal } = await suite.collecting({}, ['EURUSD.z', 'GBPUSD.z'])
    const { noon } = suite
    const end = async (name: string) => (await suite.covered(name)).at(-1)?.[1]
    await suite.clock.advance(60_000)
    await suite.until(terminal, async () => (await end('GBPUSD')) === noon + minute)
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
    await suite.until(terminal, async () => (await end('GBPUSD')) === noon + 3 * minute)
    expect(await suite.times('GBPUSD')).toContain(noon + minute)
    expect((await suite.covered('GBPUSD')).length).toBe(1)
  })

  test('with a fault in a value are neither stored nor claimed, and those around them are', async () => {
    const { terminal } = await suite.collecting()
    const { noon } = suite
    await suite.clock.advance(3 * 60_000)
    const sweep = terminal.sweep('EURUSD.z')
    if (sweep.line !== 'bars') throw new Error('expected a line of bars')
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
    const { terminal } = await suite.collecting()
    const { noon } = suite
    await suite.clock.advance(3 * 60_000)
    await suite.until(terminal, () => suite.pushed().length === 3)
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
    const { terminal } = await suite.collecting({ spool })
    await suite.clock.advance(60_000)
    let isFull = true
    folder.beforeSync = () => {
      if (isFull) throw new Error('no space left on device')
    }
    await expect(terminal.turn()).rejects.toBeInstanceOf(NotTaken)
    isFull = false
    terminal.swept.set('EURUSD.z', suite.noon)
    await suite.until(terminal, () => suite.pushed().length > 0)
    expect(suite.pushed()).toEqual([suite.noon])
    await spool.close()
  })

  test('while ingest is away are on the disk when they are taken, and pushed in order after its return', async () => {
    const folder = new MemoryFolder()
    const spool = await spoolIn(folder)
    const { terminal } = await suite.collecting({ spool })
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
    const { terminal } = await suite.collecting()
    const { noon } = suite
    terminal.vanish()
    await suite.stopInTime()
    await suite.clock.advance(120_000)
    const { source, terminal: same } = suite.open()
    suite.collect(source)
    await suite.begin(same)
    const last = Math.floor(suite.clock.utcMs() / 60_000) * minute
    await suite.until(same, () => suite.pushed().length === (last - noon) / minute)
    expect(suite.pushed()).toEqual(minutes(noon, last))
  })
})
