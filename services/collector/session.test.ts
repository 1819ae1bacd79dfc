import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineFeed, houseToken, type IngestHouse, startIngest } from '../../test/support/ingest-house.ts'
import { PaperTerminal, paperSymbol } from '../../test/support/paper-terminal.ts'
import { createVirtualClock, type VirtualClock } from '../../test/support/virtual-clock.ts'
import { toList } from '../core/bar.ts'
import { compoundKey } from '../core/compound-key.ts'
import { feedSeconds } from '../core/feed-clock.ts'
import type { Resolution } from '../core/resolution.ts'
import { silentLog } from '../platform/log.ts'
import { runCollector } from './session.ts'
import { NotLoadedYet } from './source.ts'

const start = Date.UTC(2026, 0, 5, 12)
const noon = start / 1000
const minute = 60
const hour = 3_600
const day = 86_400

const feed = defineFeed({
  depth: { '1': '2d' },
  resolutions: ['1'],
  symbols: { suffixes: ['.z'], list: [] },
})

let clock: VirtualClock
let house: IngestHouse
let stopping: AbortController
let running: Promise<void>[] = []

beforeEach(async () => {
  clock = createVirtualClock({ start })
  house = await startIngest([feed], { clock })
  stopping = new AbortController()
  running = []
})
afterEach(async () => {
  stopping.abort()
  await Promise.all([...running, clock.advance(40_000)])
  await house.remove()
})

const now = (): number => Math.floor(clock.utcMs() / 1000)
const terminal = (symbols = [paperSymbol('EURUSD.z')], reads: 'pieces' | 'whole' = 'pieces') =>
  new PaperTerminal(symbols, now, { rereadable: true, reads })

function collect(source: PaperTerminal, definition = feed, address = house.address): void {
  running.push(
    runCollector({
      definition,
      source,
      address,
      token: houseToken,
      clock,
      log: silentLog,
      signal: stopping.signal,
    }),
  )
}

const stored = async (name = 'EURUSD', resolution: Resolution = '1') =>
  toList(
    await house.stores.bars.read({
      series: { feed: feed.key, symbol: compoundKey(feed.key, name), resolution },
      from: feedSeconds(0),
      to: feedSeconds(2 * noon),
    }),
  )
const times = async (name?: string) => (await stored(name)).map(({ time }) => Number(time))
const pushed = () =>
  house.events.flatMap(({ event }) =>
    event.type === 'bars' ? event.bars.map(({ bar }) => Number(bar.time)) : [],
  )
const minutes = (from: number, to: number): number[] =>
  Array.from({ length: (to - from) / minute }, (_, i) => from + i * minute)
const windows = async () =>
  (await house.stores.windows.of(feed.key)).map(({ symbol, from, to }) => [
    symbol?.split(':')[2] ?? '*',
    from,
    to,
  ])

/** History as deep as the feed wants it is stored and covered. */
const settled = async (from = noon - 2 * day): Promise<void> => {
  await expect
    .poll(async () => (await windows())[0], { timeout: 5_000 })
    .toEqual(['EURUSD', from, expect.any(Number)])
}

describe('a first session', () => {
  test('what lies less than six hours back goes out live, in order; the rest behind it, newest day first', async () => {
    const source = terminal()
    collect(source)
    await settled()
    expect(await times()).toEqual(minutes(noon - 2 * day, noon))
    expect(pushed()).toEqual(minutes(noon - 6 * hour + minute, noon))
    const history = source.reads.slice(1).map(({ span }) => span.from)
    expect(history).toEqual([...history].sort((a, b) => b - a))
    expect(await windows()).toEqual([['EURUSD', noon - 2 * day, noon]])
  })

  test('the forming bar waits for its time', async () => {
    collect(terminal())
    await settled()
    expect((await times()).at(-1)).toBe(noon - minute)
    await clock.advance(62_000)
    await expect.poll(async () => (await times()).at(-1)).toBe(noon)
    expect(pushed().at(-1)).toBe(noon)
  })

  test("the catalogue's clean names are used, and the raw ones towards the terminal", async () => {
    const source = terminal([paperSymbol('EURUSD.z'), paperSymbol('GBPUSD')])
    collect(source)
    await settled()
    expect(new Set(source.reads.map(({ raw }) => raw))).toEqual(new Set(['EURUSD.z', 'GBPUSD']))
    expect(
      house.registry
        .view()
        .symbolsOf(feed.key)
        .map(({ name }) => name),
    ).toEqual(['EURUSD', 'GBPUSD'])
  })

  test('history that is not loaded yet is asked for again, and makes no window before', async () => {
    const source = terminal([paperSymbol('EURUSD.z'), paperSymbol('GBPUSD')])
    let loaded = false
    source.beforeRead = ({ raw }) => {
      if (raw === 'GBPUSD' && !loaded) throw new NotLoadedYet()
    }
    collect(source)
    await settled()
    expect(await times('GBPUSD')).toEqual([])
    expect((await windows()).map(([name]) => name)).not.toContain('GBPUSD')
    loaded = true
    await clock.advance(60_000)
    await expect
      .poll(async () => (await windows()).map(([name]) => name), { timeout: 5_000 })
      .toContain('GBPUSD')
    await expect.poll(async () => (await times('GBPUSD')).length).toBeGreaterThan(2 * 1_440 - 1)
  })
})

describe('the live lane', () => {
  test('a minute that closes is pushed at once and becomes part of one feed-wide window', async () => {
    const source = terminal([paperSymbol('EURUSD.z'), paperSymbol('GBPUSD')])
    collect(source)
    await settled()
    house.events.length = 0
    for (let i = 0; i < 3; i++) {
      await clock.advance(60_000)
      source.closeMinute()
      await expect.poll(() => pushed().filter((time) => time === noon + i * minute).length).toBe(2)
    }
    await clock.advance(60_000)
    await expect.poll(windows).toEqual([
      ['*', noon, noon + 3 * minute],
      ['EURUSD', noon - 2 * day, noon],
      ['GBPUSD', noon - 2 * day, noon],
    ])
  })

  test('a corrected bar is stored and never pushed', async () => {
    const source = terminal()
    collect(source)
    await settled()
    house.events.length = 0
    source.shift = 3
    await clock.advance(1)
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon - 10 * minute, noon - 9 * minute)])
    await expect
      .poll(async () => (await stored()).find(({ time }) => time === noon - 10 * minute)?.close)
      .toBe(source.bars('1', noon - 10 * minute, noon - 9 * minute).close[0])
    expect(pushed()).toEqual([])
  })

  test('bars that close while their series is still being read go out after it, in order', async () => {
    const source = terminal()
    let release = (): void => undefined
    source.beforeRead = () =>
      source.reads.length === 1 ? new Promise<void>((resolve) => (release = resolve)) : undefined
    collect(source)
    await expect.poll(() => source.reads.length).toBe(1)
    await clock.advance(60_000)
    source.closeMinute()
    release()
    await settled()
    expect(pushed()).toEqual(minutes(noon - 6 * hour + minute, noon + minute))
  })

  test('a symbol that appears later is listed, read and watched', async () => {
    const source = terminal()
    collect(source)
    await settled()
    source.symbols.push(paperSymbol('GBPUSD'))
    source.listener.catalogue([paperSymbol('GBPUSD')], false)
    await expect.poll(async () => (await times('GBPUSD')).length, { timeout: 5_000 }).toBe(2 * 1_440)
    await clock.advance(60_000)
    source.closeMinute()
    await expect.poll(async () => (await times('GBPUSD')).at(-1)).toBe(noon)
  })

  test('a heartbeat tells every five seconds whether the terminal is connected', async () => {
    const source = terminal()
    collect(source)
    await settled()
    const heartbeat = async () => (await house.stores.board.read([feed.key])).get(feed.key)?.heartbeatAt
    source.listener.connected(false)
    const before = await heartbeat()
    await clock.advance(10_000)
    expect(await heartbeat()).toBe(before)
    source.listener.connected(true)
    await clock.advance(5_000)
    await expect.poll(heartbeat).toBe(clock.utcMs())
  })
})

describe('coming back', () => {
  test('a session goes on behind the last stored bar and reads no covered history again', async () => {
    const source = terminal()
    collect(source)
    await settled()
    source.reads.length = 0
    const { folder, port } = house
    await house.close(1_000)
    await clock.advance(5 * 60_000)
    house = await startIngest([feed], { clock, folder, port })
    await clock.advance(31_000)
    await expect.poll(async () => (await times()).at(-1), { timeout: 5_000 }).toBe(noon + 4 * minute)
    await expect.poll(windows).toEqual([['EURUSD', noon - 2 * day, noon + 5 * minute]])
    expect(source.reads.map(({ span }) => span.from)).toEqual([noon - minute + 1])
    expect(await times()).toEqual(minutes(noon - 2 * day, noon + 5 * minute))
  })

  test('a kill between commit and ack loses nothing and stores nothing twice', async () => {
    const source = terminal([paperSymbol('EURUSD.z'), paperSymbol('GBPUSD')])
    await house.remove()
    let commits = 0
    let kills = 0
    let isHung = false
    const begin = (folder?: string, port?: number) =>
      startIngest([feed], {
        clock,
        ...(folder !== undefined && { folder }),
        ...(port !== undefined && { port }),
        around: (stores) => ({
          ...stores,
          bars: {
            ...stores.bars,
            async write(batch, lane) {
              await stores.bars.write(batch, lane)
              commits += 1
              // Committed, and the process is gone before it can say so.
              if (kills >= 4 || commits % 3 !== 0) return
              isHung = true
              await new Promise(() => undefined)
            },
          },
        }),
      })
    house = await begin()
    collect(source)
    // The depth moves on with the clock.
    const wanted = minutes(noon - 2 * day + 10 * minute, noon)
    const isWhole = async (): Promise<boolean> => {
      const covered = (await windows()).filter(
        ([, from, to]) => Number(from) <= Number(wanted[0]) && Number(to) >= noon,
      )
      return covered.length === 2
    }
    while (!(await isWhole())) {
      const isDue = async (): Promise<boolean> => {
        await clock.advance(1_000)
        return isHung || isWhole()
      }
      await expect.poll(isDue, { timeout: 10_000 }).toBe(true)
      if (!isHung) break
      kills += 1
      const { folder, port } = house
      await house.close(0)
      isHung = false
      house = await begin(folder, port)
    }
    expect(kills).toBeGreaterThan(1)
    for (const name of ['EURUSD', 'GBPUSD']) {
      const got = await times(name)
      expect(got.filter((time) => time >= Number(wanted[0]) && time < noon)).toEqual(wanted)
      expect(new Set(got).size).toBe(got.length)
    }
  }, 30_000)

  test('what passed while ingest was away is pushed in order after it came back', async () => {
    const source = terminal()
    collect(source)
    await settled()
    const { folder, port } = house
    await house.close(0)
    for (let i = 0; i < 5; i++) {
      await clock.advance(60_000)
      source.closeMinute()
    }
    house = await startIngest([feed], { clock, folder, port })
    await clock.advance(31_000)
    await expect.poll(pushed, { timeout: 5_000 }).toEqual(minutes(noon, noon + 5 * minute))
    await expect.poll(() => times()).toEqual(minutes(noon - 2 * day, noon + 5 * minute))
  })

  test('an interruption of the terminal is read again', async () => {
    const source = terminal()
    collect(source)
    await settled()
    await clock.advance(60_000)
    source.closeMinute()
    await expect.poll(async () => (await times()).at(-1)).toBe(noon)
    await clock.advance(5 * 60_000)
    source.interrupted()
    await clock.advance(60_000)
    source.closeMinute()
    await clock.advance(2_000)
    await expect
      .poll(() => times(), { timeout: 5_000 })
      .toEqual(expect.arrayContaining(minutes(noon - 2 * day, noon + 7 * minute)))
  })

  test('stopping leaves nothing behind: the collector ends, the lease is free', async () => {
    collect(terminal())
    await settled()
    stopping.abort()
    await Promise.all(running)
    await expect.poll(() => house.stores.leases.acquire(`feed ${feed.key}`, 'other')).toBeDefined()
  })
})

describe('a source that is read as a whole', () => {
  test('all it has is stored, however old; what is new since is live', async () => {
    const source = terminal([paperSymbol('EURUSD.z')], 'whole')
    const old = noon - 400 * day
    const all = [...minutes(old, old + hour), ...minutes(noon - hour, noon)]
    source.read = async function* () {
      this.reads.push({
        raw: 'EURUSD.z',
        resolution: '1',
        span: { from: feedSeconds(0), to: feedSeconds(0) },
      })
      yield {
        bars: this.bars('1', old, old + hour),
        complete: { from: feedSeconds(old), to: feedSeconds(old + hour) },
      }
      const from = feedSeconds(noon - hour)
      yield { bars: this.bars('1', from, now()), complete: { from, to: feedSeconds(now()) } }
    }
    collect(source)
    await expect.poll(() => times(), { timeout: 5_000 }).toEqual(all)
    expect(pushed()).toEqual(minutes(noon - hour, noon))
    await expect.poll(windows).toEqual([
      ['EURUSD', old, old + hour],
      ['EURUSD', noon - hour, noon],
    ])
    await clock.advance(60_000)
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon, noon + minute)])
    source.listener.complete(
      { raw: 'EURUSD.z', resolution: '1' },
      { from: feedSeconds(noon - hour), to: feedSeconds(noon + minute) },
    )
    await expect.poll(pushed).toEqual(minutes(noon - hour, noon + minute))
    await expect.poll(async () => (await windows()).at(-1)).toEqual(['EURUSD', noon - hour, noon + minute])
  })

  test('a file that changed is read anew, covered or not, and its corrections win', async () => {
    const source = terminal([paperSymbol('EURUSD.z')], 'whole')
    source.read = async function* () {
      const from = feedSeconds(noon - 10 * day)
      yield { bars: this.bars('1', from, from + hour), complete: { from, to: feedSeconds(from + hour) } }
    }
    collect(source)
    await expect.poll(async () => (await windows()).length, { timeout: 5_000 }).toBe(1)
    source.shift = 7
    await clock.advance(1)
    source.listener.again(
      { raw: 'EURUSD.z', resolution: '1' },
      { from: feedSeconds(0), to: feedSeconds(Number.MAX_SAFE_INTEGER) },
    )
    await expect
      .poll(async () => (await stored()).map(({ close }) => close))
      .toEqual([...source.bars('1', noon - 10 * day, noon - 10 * day + hour).close])
  })
})
