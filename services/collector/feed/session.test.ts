import { describe, expect, test } from 'vitest'
import {
  CollectorFixture,
  day,
  hour,
  minute,
  minutes,
} from '../../../test/support/fixtures/collector-fixture.ts'
import { fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { NotLoadedYet } from '../source.ts'

const suite = new CollectorFixture()

describe('a first session', () => {
  test('bars of the last six hours are sent live in order, then older ones as history, newest day first', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source)
    await suite.settled()
    expect(await suite.times()).toEqual(minutes(noon - 2 * day, noon))
    expect(suite.pushed()).toEqual(minutes(noon - 6 * hour + minute, noon))
    const history = source.reads.slice(1).map(({ span }) => span.from)
    expect(history).toEqual([...history].sort((a, b) => b - a))
    expect(await suite.windows()).toEqual([['EURUSD', noon - 2 * day, noon]])
  })

  test('a forming bar is sent once it has closed', async () => {
    const { noon } = suite
    suite.collect(suite.terminal())
    await suite.settled()
    expect((await suite.times()).at(-1)).toBe(noon - minute)
    await suite.clock.advance(62_000)
    await expect.poll(async () => (await suite.times()).at(-1)).toBe(noon)
    expect(suite.pushed().at(-1)).toBe(noon)
  })

  test("ingest gets the catalogue's clean names, the terminal gets raw names", async () => {
    const source = suite.terminal([fakeSymbol('EURUSD.z'), fakeSymbol('GBPUSD')])
    suite.collect(source)
    await suite.settled()
    expect(new Set(source.reads.map(({ raw }) => raw))).toEqual(new Set(['EURUSD.z', 'GBPUSD']))
    expect(
      suite.fixture.registry
        .view()
        .symbolsOf(suite.feed.key)
        .map(({ name }) => name),
    ).toEqual(['EURUSD', 'GBPUSD'])
  })

  test('history that the terminal has not loaded is read again, and no window claims it before', async () => {
    const source = suite.terminal([fakeSymbol('EURUSD.z'), fakeSymbol('GBPUSD')])
    let loaded = false
    source.beforeRead = ({ raw }) => {
      if (raw === 'GBPUSD' && !loaded) throw new NotLoadedYet()
    }
    suite.collect(source)
    await suite.settled()
    expect(await suite.times('GBPUSD')).toEqual([])
    expect((await suite.windows()).map(([name]) => name)).not.toContain('GBPUSD')
    loaded = true
    await suite.clock.advance(60_000)
    await expect
      .poll(async () => (await suite.windows()).map(([name]) => name), { timeout: 8_000 })
      .toContain('GBPUSD')
    await expect.poll(async () => (await suite.times('GBPUSD')).length).toBeGreaterThan(2 * 1_440 - 1)
  })
})

describe('the live lane', () => {
  test('a closed minute is pushed at once and extends one feed-wide window', async () => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z'), fakeSymbol('GBPUSD')])
    suite.collect(source)
    await suite.settled()
    suite.fixture.events.length = 0
    for (let i = 0; i < 3; i++) {
      await suite.clock.advance(60_000)
      source.closeMinute()
      await expect.poll(() => suite.pushed().filter((time) => time === noon + i * minute).length).toBe(2)
    }
    await expect
      .poll(() => suite.windows(), { timeout: 8_000 })
      .toEqual([
        ['*', noon, noon + 3 * minute],
        ['EURUSD', noon - 2 * day, noon],
        ['GBPUSD', noon - 2 * day, noon],
      ])
  })

  test('minutes are pushed as they close although bars ahead of the clock were sent before', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source)
    await suite.settled()
    suite.fixture.events.length = 0
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon + hour, noon + hour + 2 * minute)])
    for (let i = 0; i < 3; i++) {
      await suite.clock.advance(60_000)
      source.closeMinute()
      await expect.poll(() => suite.pushed()).toEqual(minutes(noon, noon + (i + 1) * minute))
    }
  })

  test('a bar ahead of the clock does not close the minute that is forming', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source)
    await suite.settled()
    suite.fixture.events.length = 0
    await suite.clock.advance(30_000)
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon, noon + minute)])
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon + hour, noon + hour + minute)])
    await suite.clock.advance(40_000)
    await expect.poll(() => suite.pushed()).toEqual([noon])
  })

  test('a corrected bar is stored and not pushed', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source)
    await suite.settled()
    suite.fixture.events.length = 0
    source.shift = 3
    await suite.clock.advance(1)
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon - 10 * minute, noon - 9 * minute)])
    await expect
      .poll(async () => (await suite.stored()).find(({ time }) => time === noon - 10 * minute)?.close)
      .toBe(source.bars('1', noon - 10 * minute, noon - 9 * minute).close[0])
    expect(suite.pushed()).toEqual([])
  })

  test('minutes that close while their series is read are all stored and pushed after the read, in order', async () => {
    const { noon } = suite
    const source = suite.terminal()
    let release = (): void => undefined
    source.beforeRead = () =>
      source.reads.length === 1 ? new Promise<void>((resolve) => (release = resolve)) : undefined
    suite.collect(source)
    await expect.poll(() => source.reads.length).toBe(1)
    for (let i = 0; i < 3; i++) {
      await suite.clock.advance(60_000)
      source.closeMinute()
    }
    release()
    await suite.settled()
    await expect.poll(() => suite.pushed()).toEqual(minutes(noon - 6 * hour + minute, noon + 3 * minute))
    expect((await suite.times()).slice(-3)).toEqual(minutes(noon, noon + 3 * minute))
  })

  test('a bar that was reported while its series could not be read, and has changed since, keeps the value that was read', async () => {
    const { noon } = suite
    const source = suite.terminal()
    let isLoaded = false
    source.beforeRead = () => {
      if (!isLoaded) throw new NotLoadedYet()
    }
    suite.collect(source)
    await expect.poll(() => source.reads.length).toBeGreaterThan(0)
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon - 10 * minute, noon - 9 * minute)])
    source.shift = 3
    isLoaded = true
    await suite.clock.advance(60_000)
    source.closeMinute()
    // The window of this minute follows all bars that were sent before.
    await expect.poll(async () => (await suite.covered('EURUSD')).at(-1)?.[1]).toBe(noon + minute)
    const stored = (await suite.stored()).find(({ time }) => time === noon - 10 * minute)
    expect(stored?.close).toBe(source.bars('1', noon - 10 * minute, noon - 9 * minute).close[0])
  })

  test('a symbol that is added later is listed, read and followed', async () => {
    const { noon } = suite
    const source = suite.terminal()
    suite.collect(source)
    await suite.settled()
    source.symbols.push(fakeSymbol('GBPUSD'))
    source.listener.catalogue([fakeSymbol('GBPUSD')], { snapshot: false })
    await expect.poll(async () => (await suite.times('GBPUSD')).length, { timeout: 8_000 }).toBe(2 * 1_440)
    await suite.clock.advance(60_000)
    source.closeMinute()
    await expect.poll(async () => (await suite.times('GBPUSD')).at(-1)).toBe(noon)
    await suite.clock.advance(60_000)
    source.closeMinute()
    await expect.poll(() => suite.covered('GBPUSD')).toEqual([[noon - 2 * day, noon + 2 * minute]])
  })

  test('a heartbeat reports every five seconds whether the terminal is connected', async () => {
    const source = suite.terminal()
    suite.collect(source)
    await suite.settled()
    const heartbeat = async () =>
      (await suite.fixture.stores.board.read([suite.feed.key])).get(suite.feed.key)?.heartbeatAt
    source.listener.connected(false)
    const before = await heartbeat()
    await suite.clock.advance(10_000)
    expect(await heartbeat()).toBe(before)
    source.listener.connected(true)
    await suite.clock.advance(5_000)
    await expect.poll(heartbeat).toBe(suite.clock.utcMs())
  })
})
