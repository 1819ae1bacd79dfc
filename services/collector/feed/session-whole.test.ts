import { describe, expect, test } from 'vitest'
import {
  CollectorFixture,
  day,
  hour,
  minute,
  minutes,
} from '../../../test/support/fixtures/collector-fixture.ts'
import { fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'

const suite = new CollectorFixture()
/** Timeout for a busy machine. */
const patient = { timeout: 8_000 }

describe('a source that is read as a whole', () => {
  test('all of its bars are stored, however old, and later ones are live', async () => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z')], 'whole')
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
      yield { bars: this.bars('1', from, noon), complete: { from, to: feedSeconds(noon) } }
    }
    suite.collect(source)
    await expect.poll(() => suite.times(), { timeout: 8_000 }).toEqual(all)
    expect(suite.pushed()).toEqual(minutes(noon - hour, noon))
    await expect
      .poll(() => suite.windows())
      .toEqual([
        ['EURUSD', old, old + hour],
        ['EURUSD', noon - hour, noon],
      ])
    await suite.clock.advance(60_000)
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon, noon + minute)])
    source.listener.complete(
      { raw: 'EURUSD.z', resolution: '1' },
      { from: feedSeconds(noon - hour), to: feedSeconds(noon + minute) },
    )
    await expect.poll(() => suite.pushed()).toEqual(minutes(noon - hour, noon + minute))
    await expect
      .poll(async () => (await suite.windows()).at(-1))
      .toEqual(['EURUSD', noon - hour, noon + minute])
  })

  test('a line that arrived after its minute was claimed is sent by the next session, however late', async () => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z')], 'whole')
    const from = feedSeconds(noon - 10 * day)
    let end = from + hour / 2
    source.read = async function* () {
      yield { bars: this.bars('1', from, end), complete: { from, to: feedSeconds(from + hour) } }
    }
    suite.collect(source)
    await expect.poll(() => suite.windows(), patient).toEqual([['EURUSD', from, from + hour]])
    end = from + hour
    await suite.restart()
    await suite.clock.advance(31_000)
    await expect.poll(() => suite.times(), patient).toEqual(minutes(from, from + hour))
  })

  test('a file that changed is read again, covered or not, and its corrections replace stored bars', async () => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z')], 'whole')
    source.read = async function* () {
      const from = feedSeconds(noon - 10 * day)
      yield { bars: this.bars('1', from, from + hour), complete: { from, to: feedSeconds(from + hour) } }
    }
    suite.collect(source)
    await expect.poll(async () => (await suite.windows()).length, { timeout: 8_000 }).toBe(1)
    source.shift = 7
    await suite.clock.advance(1)
    source.listener.readAgain(
      { raw: 'EURUSD.z', resolution: '1' },
      { from: feedSeconds(0), to: feedSeconds(Number.MAX_SAFE_INTEGER) },
    )
    await expect
      .poll(async () => (await suite.stored()).map(({ close }) => close))
      .toEqual([...source.bars('1', noon - 10 * day, noon - 10 * day + hour).close])
  })

  test('a file that changed while ingest was away is read again by the next session, also where windows cover it', async () => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z')], 'whole')
    const from = feedSeconds(noon - 10 * day)
    source.read = async function* () {
      yield { bars: this.bars('1', from, from + hour), complete: { from, to: feedSeconds(from + hour) } }
    }
    suite.collect(source)
    await expect.poll(async () => (await suite.windows()).length, patient).toBe(1)
    await suite.restart(undefined, async () => {
      source.shift = 7
      await suite.clock.advance(1)
      source.listener.readAgain(
        { raw: 'EURUSD.z', resolution: '1' },
        { from: feedSeconds(0), to: feedSeconds(Number.MAX_SAFE_INTEGER) },
      )
    })
    await suite.clock.advance(31_000)
    await expect
      .poll(async () => (await suite.stored()).map(({ close }) => close), patient)
      .toEqual([...source.bars('1', from, from + hour).close])
  })

  test('no window claims bars that were dropped or refused, and the next session sends them', async () => {
    const { noon } = suite
    const source = suite.terminal([fakeSymbol('EURUSD.z')], 'whole')
    const old = feedSeconds(noon - 10 * day)
    const recent = feedSeconds(noon - hour)
    let isDamaged = true
    const given = (from: number, to: number) => {
      const bars = source.bars('1', from, to)
      if (isDamaged) {
        bars.close[10] = (bars.close[10] as number) + 1e-6
        bars.high[20] = bars.low[20] as number
      }
      return bars
    }
    source.read = async function* () {
      for (const from of [old, recent]) {
        const to = feedSeconds(from + hour)
        yield { bars: given(from, to), complete: { from, to } }
      }
    }
    suite.collect(source)
    const torn = [old, recent].flatMap((from) => [
      ['EURUSD', from, from + 10 * minute],
      ['EURUSD', from + 11 * minute, from + 20 * minute],
      ['EURUSD', from + 21 * minute, from + hour],
    ])
    await expect.poll(() => suite.windows(), patient).toEqual(torn)
    expect((await suite.times()).length).toBe(116)
    isDamaged = false
    await suite.restart()
    await suite.clock.advance(31_000)
    await expect
      .poll(() => suite.times(), patient)
      .toEqual([...minutes(old, old + hour), ...minutes(recent, noon)])
    await expect
      .poll(() => suite.windows(), patient)
      .toEqual([
        ['EURUSD', old, old + hour],
        ['EURUSD', recent, noon],
      ])
  })

  test('a symbol that gets more decimals is collected again, and its bars are not pushed twice', async () => {
    const { noon } = suite
    const coarse = { ...fakeSymbol('EURUSD.z'), digits: 4 }
    const source = suite.terminal([coarse], 'whole')
    const from = feedSeconds(noon - hour)
    source.read = async function* () {
      yield { bars: this.bars('1', from, noon), complete: { from, to: feedSeconds(noon) } }
    }
    // Only every tenth minute has prices whose fifth decimal is 0.
    const coarseTimes = () => minutes(from, noon).filter((time) => (time / minute) % 10 === 5)
    source.bars = (
      (bars) =>
      (...args: Parameters<typeof bars>) => {
        const given = bars.apply(source, args)
        for (let i = 0; i < given.time.length; i++) {
          for (const column of ['open', 'high', 'low'] as const) given[column][i] = given.close[i] as number
        }
        return given
      }
    )(source.bars)
    suite.collect(source)
    await expect.poll(() => suite.times(), patient).toEqual(coarseTimes())
    source.listener.catalogue([{ ...coarse, digits: 5 }], { snapshot: false })
    await expect.poll(() => suite.times(), patient).toEqual(minutes(from, noon))
    await expect.poll(() => suite.windows(), patient).toEqual([['EURUSD', from, noon]])
    expect(suite.pushed()).toEqual(coarseTimes())
    await suite.clock.advance(60_000)
    source.listener.closed([source.closedBars('EURUSD.z', '1', noon, noon + minute)])
    await expect.poll(() => suite.pushed().at(-1), patient).toBe(noon)
    // The push may be earlier than the write.
    const closes = async () => (await suite.stored()).at(-1)?.close
    await expect.poll(closes, patient).toBe(source.bars('1', noon, noon + minute).close[0])
  })

  test('a session that ends while history waits stops all reads, and the next one reads everything', async () => {
    const { noon } = suite
    const long = 5_000 * minute
    const names = ['B', 'C', 'D', 'E']
    const source = suite.terminal([fakeSymbol('A')], 'whole')
    let open = 0
    source.read = async function* ({ raw }) {
      open += 1
      try {
        const from = feedSeconds(raw === 'A' ? noon - hour : noon - long)
        yield { bars: this.bars('1', from, noon), complete: { from, to: feedSeconds(noon) } }
      } finally {
        open -= 1
      }
    }
    let isHung = false
    await suite.restart((stores) => ({
      ...stores,
      bars: {
        ...stores.bars,
        write: (batch, lane) =>
          isHung ? new Promise<never>(() => undefined) : stores.bars.write(batch, lane),
      },
    }))
    suite.collect(source)
    await expect.poll(() => suite.windows(), patient).toEqual([['A', noon - hour, noon]])
    isHung = true
    await suite.clock.advance(60_000)
    source.listener.closed([source.closedBars('A', '1', noon, noon + minute)])
    source.listener.closed([source.closedBars('A', '1', noon - long, noon)])
    source.listener.catalogue(
      names.map((name) => fakeSymbol(name)),
      { snapshot: false },
    )
    await expect.poll(() => open, patient).toBe(names.length)
    await suite.restart()
    await expect.poll(() => open, patient).toBe(0)
    await suite.clock.advance(31_000)
    const claimed = async () => (await suite.windows()).filter(([name]) => names.includes(name)).length
    await expect.poll(claimed, patient).toBe(names.length)
    for (const name of names) expect(await suite.times(name)).toEqual(minutes(noon - long, noon))
  }, 30_000)
})
