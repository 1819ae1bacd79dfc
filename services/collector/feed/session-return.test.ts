import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  CollectorFixture,
  day,
  hour,
  minute,
  minutes,
} from '../../../test/support/fixtures/collector-fixture.ts'
import { MemoryFolder } from '../../../test/support/fixtures/memory-folder.ts'
import { openSmallSpool } from '../../../test/support/fixtures/spool-fixture.ts'
import { wrongClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import type { Stores } from '../../ports/stores.ts'

const suite = new CollectorFixture()

describe('a new session', () => {
  test('a session continues after the last stored bar and does not read covered history again', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source)
    await suite.settled()
    source.reads.length = 0
    await suite.restart(undefined, () => suite.clock.advance(5 * 60_000))
    await suite.clock.advance(31_000)
    await expect.poll(async () => (await suite.times()).at(-1), { timeout: 8_000 }).toBe(noon + 4 * minute)
    await expect.poll(() => suite.windows()).toEqual([['EURUSD', noon - 2 * day, noon + 5 * minute]])
    expect(source.reads.map(({ span }) => span.from)).toEqual([noon - minute + 1])
    expect(await suite.times()).toEqual(minutes(noon - 2 * day, noon + 5 * minute))
  })

  test('a kill between commit and Ack loses no bar and stores none twice', async () => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z'), fakeSymbol('GBPUSD')])
    let commits = 0
    let kills = 0
    let isHung = false
    const killing = (stores: Stores): Stores => ({
      ...stores,
      bars: {
        ...stores.bars,
        async write(batch, lane) {
          await stores.bars.write(batch, lane)
          commits += 1
          // The process is killed after the commit and before the Ack.
          if (kills >= 4 || commits % 3 !== 0) return
          isHung = true
          await new Promise(() => undefined)
        },
      },
    })
    await suite.restart(killing)
    suite.collect(source)
    // The depth of the feed moves with the clock.
    const wanted = minutes(noon - 2 * day + 10 * minute, noon)
    const isWhole = async (): Promise<boolean> => {
      const windows = await suite.windows()
      return windows.filter(([, from, to]) => from <= Number(wanted[0]) && to >= noon).length === 2
    }
    while (!(await isWhole())) {
      const isDue = async (): Promise<boolean> => {
        await suite.clock.advance(1_000)
        return isHung || isWhole()
      }
      await expect.poll(isDue, { timeout: 10_000 }).toBe(true)
      if (!isHung) break
      kills += 1
      await suite.restart(killing, async () => {
        isHung = false
      })
    }
    expect(kills).toBeGreaterThan(1)
    await suite.restart()
    for (const name of ['EURUSD', 'GBPUSD']) {
      const got = await suite.times(name)
      expect(got.filter((time) => time >= Number(wanted[0]) && time < noon)).toEqual(wanted)
      expect(new Set(got).size).toBe(got.length)
    }
  }, 60_000)

  test('minutes that closed while ingest was unavailable are pushed in order after it is available again', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source)
    await suite.settled()
    await suite.restart(undefined, async () => {
      for (let i = 0; i < 5; i++) {
        await suite.clock.advance(60_000)
        source.closeMinute()
      }
    })
    await suite.clock.advance(31_000)
    await expect.poll(() => suite.pushed(), { timeout: 8_000 }).toEqual(minutes(noon, noon + 5 * minute))
    await expect.poll(() => suite.times()).toEqual(minutes(noon - 2 * day, noon + 5 * minute))
  })

  test('when a clock is set during a session, the minutes that ingest refused are read again, stored and pushed', async () => {
    const { noon } = suite
    const source = suite.terminal()
    const clock = wrongClock(suite.clock)
    suite.collect(source, { clock })
    await suite.settled()
    suite.fixture.events.length = 0
    clock.aheadMs = 30_000
    for (let i = 0; i < 3; i++) {
      await suite.clock.advance(60_000)
      source.closeMinute()
    }
    const wanted = minutes(noon, noon + 3 * minute)
    const pushed = async (): Promise<number[]> => {
      await suite.clock.advance(1_000)
      return suite.pushed()
    }
    await expect.poll(pushed, { timeout: 20_000 }).toEqual(wanted)
    await expect.poll(async () => (await suite.times()).slice(-3), { timeout: 20_000 }).toEqual(wanted)
  })

  test.each(['with', 'without'])(
    'after the store was restored to an earlier time, a collector %s a spool stores all minutes since again',
    async (how) => {
      const { noon } = suite
      const source = suite.terminal()
      const backup = mkdtempSync(join(tmpdir(), 'fxd-backup-'))
      const spool = await openSmallSpool(new MemoryFolder(), { clock: suite.clock })
      suite.collect(source, how === 'with' ? { spool } : {})
      await suite.settled()
      const { folder } = suite.fixture
      await suite.restart(undefined, async () => cpSync(folder, backup, { recursive: true }))
      const newest = async (): Promise<number | undefined> => {
        await suite.clock.advance(1_000)
        return (await suite.times()).at(-1)
      }
      await suite.clock.advance(31_000)
      for (let i = 0; i < 10; i++) {
        await suite.clock.advance(60_000 - (suite.clock.utcMs() % 60_000))
        source.closeMinute()
      }
      await expect.poll(newest, { timeout: 8_000 }).toBeGreaterThanOrEqual(noon + 9 * minute)
      await suite.restart(undefined, async () => {
        for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
        cpSync(backup, folder, { recursive: true })
      })
      expect((await suite.times()).at(-1)).toBe(noon - minute)
      await expect.poll(newest, { timeout: 8_000 }).toBeGreaterThanOrEqual(noon + 9 * minute)
      const end = noon + 10 * minute
      const wanted = minutes(noon - 2 * day, end)
      await expect
        .poll(async () => (await suite.times()).filter((time) => time < end), { timeout: 8_000 })
        .toEqual(wanted)
      const claimed = async (): Promise<number> => (await suite.covered('EURUSD'))[0]?.[1] ?? 0
      await expect.poll(claimed, { timeout: 8_000 }).toBeGreaterThanOrEqual(end)
      rmSync(backup, { recursive: true })
    },
  )

  test('bars missed in an interruption of the terminal are read again', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source)
    await suite.settled()
    await suite.clock.advance(60_000)
    source.closeMinute()
    await expect.poll(async () => (await suite.times()).at(-1)).toBe(noon)
    await suite.clock.advance(5 * 60_000)
    source.interrupted()
    await suite.clock.advance(60_000)
    source.closeMinute()
    const later = async (): Promise<number[]> => {
      await suite.clock.advance(1_000)
      return suite.times()
    }
    await expect
      .poll(later, { timeout: 20_000 })
      .toEqual(expect.arrayContaining(minutes(noon - 2 * day, noon + 7 * minute)))
  })

  test('a stop ends the collector and frees its lease', async () => {
    suite.collect(suite.terminal())
    await suite.settled()
    await suite.stop()
    await expect
      .poll(() => suite.fixture.stores.leases.acquire(`feed ${suite.feed.key}`, 'other'))
      .toBeDefined()
  })

  test('bars that a delayed symbol had not reported when the session ended are read by the next one', async () => {
    const { noon } = suite
    const source = suite.terminal([{ ...fakeSymbol('EURUSD.z'), delaySeconds: 900 }, fakeSymbol('GBPUSD')])
    suite.collect(source)
    await expect
      .poll(() => suite.covered('EURUSD'), { timeout: 8_000 })
      .toEqual([[noon - 2 * day, noon - 900]])
    for (let i = 0; i < 2; i++) {
      await suite.clock.advance(60_000)
      source.closeMinute()
    }
    await expect.poll(async () => (await suite.times('GBPUSD')).at(-1)).toBe(noon + minute)
    // Longer than the reach of the live lane, so the missing bars are history now.
    await suite.restart(undefined, async () => suite.clock.freezeFor(7 * hour * 1000))
    source.interrupted()
    await suite.clock.advance(31_000)
    const wanted = minutes(noon - 2 * day, noon + 7 * hour - 900)
    await expect
      .poll(async () => (await suite.times()).length, { timeout: 8_000 })
      .toBeGreaterThanOrEqual(wanted.length)
    expect((await suite.times()).slice(0, wanted.length)).toEqual(wanted)
  })
})
