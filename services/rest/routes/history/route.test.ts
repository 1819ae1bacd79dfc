import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
} from '../../../../test/support/fixtures/rest-fixture.ts'
import { utcMs } from '../../../core/clocks/feed-clock.ts'

const day = Date.UTC(2026, 0, 5) / 1000
/** Noon UTC. The clock of ZERO has 15:00, that of TADIL is years behind. */
const noon = day + 43_200
const tadilOffset = 4018 * 86_400
const minutes = Array.from({ length: 600 }, (_, i) => aBar(day + i * 60, (110_000 + i) / 100_000, i))

let edge: RestFixture
beforeAll(async () => {
  edge = await openRestFixture({ start: noon * 1000 })
  await edge.register(
    aFeed('BROKERA', 'ZERO', { clock: { mode: 'Fixed', offsetSeconds: -10_800 } }),
    aFeed('BROKERB', 'LIVE'),
    aFeed('BROKERC', 'TADIL', {
      clock: { mode: 'Fixed', offsetSeconds: tadilOffset },
      resolutions: ['60', '240', '1D', '1W', '1M'],
    }),
    aFeed('BROKERF', 'LIVE', { clock: { mode: 'Measured' } }),
    aKey(1, ['BROKERA:ZERO', 'BROKERC:TADIL', 'BROKERF:LIVE']),
    aSymbol('BROKERA:ZERO:EURUSD'),
    aSymbol('BROKERA:ZERO:SLOW', { delaySeconds: 900 }),
    aSymbol('BROKERA:ZERO:__proto__'),
    aSymbol('BROKERB:LIVE:EURUSD'),
    aSymbol('BROKERC:TADIL:EURUSD'),
    aSymbol('BROKERF:LIVE:EURUSD'),
  )
  await edge.store('BROKERA:ZERO:EURUSD', '1', minutes)
  await edge.store('BROKERC:TADIL:EURUSD', '60', [aBar(day - tadilOffset), aBar(day - tadilOffset + 3600)])
})
afterAll(() => edge.close())

const ask = (query: string, key = 1) => edge.ask(`/v1/history?${query}`, { key })
const eurusd = 'symbol=BROKERA:ZERO:EURUSD&resolution=1'
const times = async (query: string): Promise<readonly number[]> => {
  const { status, body } = await ask(query)
  expect(status).toBe(200)
  return body.s === 'no_data' ? [] : body.t
}
const opens = (from: number, to: number) => minutes.slice(from, to).map(({ time }) => time)

describe('GET /v1/history', () => {
  test('answers columns of numbers in the order of the specification', async () => {
    expect((await ask(`${eurusd}&from=${day}&to=${day + 60}`)).text).toBe(
      `{"s":"ok","t":[${day},${day + 60}],"o":[1.1,1.10001],"h":[1.1,1.10001],"l":[1.1,1.10001],` +
        '"c":[1.1,1.10001],"v":[0,1],"meta":{"symbol":"BROKERA:ZERO:EURUSD","resolution":"1","bar_count":2}}',
    )
  })

  test('a range without bars is no_data and nothing else', async () => {
    expect((await ask(`${eurusd}&from=0&to=60`)).text).toBe('{"s":"no_data"}')
  })

  test.each([
    ['both ends are inclusive', `from=${day + 60}&to=${day + 180}`, opens(1, 4)],
    [
      'a range that begins a second later is without the first bar',
      `from=${day + 61}&to=${day + 180}`,
      opens(2, 4),
    ],
    [
      'a range that ends a second earlier is without the last bar',
      `from=${day + 60}&to=${day + 179}`,
      opens(1, 3),
    ],
    ['from may equal to', `from=${day}&to=${day}`, opens(0, 1)],
    ['negative times are accepted', `from=-100&to=${day}`, opens(0, 1)],
    ['a range before 1970 is empty', 'from=-100&to=-50', []],
    ['the widest range is accepted', `from=-9007199254740991&to=9007199254740991`, opens(0, 600)],
    ['countback counts from now', 'countback=3', opens(597, 600)],
    ['countback ends at to, inclusive', `countback=2&to=${day + 120}`, opens(1, 3)],
    ['countback replaces from', `countback=2&from=${day}&to=${day + 300}`, opens(4, 6)],
    ['countback without to ends now', `countback=1&from=99999999999`, opens(599, 600)],
    ['countback before the first bar is empty', `countback=5&to=${day - 1}`, []],
    ['countback=10000 returns all bars', 'countback=10000', opens(0, 600)],
    ['an empty value counts as absent', `countback=&from=${day}&to=${day}`, opens(0, 1)],
  ])('%s', async (_, query, expected) => expect(await times(`${eurusd}&${query}`)).toEqual(expected))

  test.each([
    ['neither a range nor countback', '', 'countback'],
    ['from alone', `from=${day}`, 'to'],
    ['to alone', `to=${day}`, 'from'],
    ['from after to', 'from=2&to=1', 'from'],
    ['countback=0', 'countback=0', 'countback'],
    ['countback=10001', 'countback=10001', 'countback'],
    ['a fraction', 'countback=1.5', 'countback'],
    ['an exponent', 'countback=1e3', 'countback'],
    ['a sign', 'countback=%2B5', 'countback'],
    ['hexadecimal', 'from=0x10&to=20', 'from'],
    ['above safe integers', 'from=0&to=9007199254740992', 'to'],
    ['a repeated parameter', 'from=1&from=1&to=2', 'from'],
  ])('%s is 422 with the name %3$s', async (_, query, name) => {
    const { status, body } = await ask(`${eurusd}&${query}`)
    expect([status, body.s, body.error.code]).toEqual([422, 'error', 'INVALID_PARAMS'])
    expect(body.errmsg).toContain(name)
    expect(body.error.message).toBe(body.errmsg)
  })

  test.each(['', 'symbol=&'])('a missing symbol is 422 "symbol not found" (%s)', async (symbol) => {
    const { status, body } = await ask(`${symbol}resolution=1&countback=1`)
    expect([status, body.errmsg]).toEqual([422, 'symbol not found'])
  })

  test.each(['', 'resolution=&', 'resolution=2&', 'resolution=1d&', 'resolution=1&resolution=5&'])(
    'an unknown resolution is 422 with its name (%s)',
    async (resolution) => {
      const { status, body } = await ask(`symbol=BROKERA:ZERO:EURUSD&${resolution}countback=1`)
      expect(status).toBe(422)
      expect(body.errmsg).toMatch(/^resolution: .*1D/)
    },
  )

  test.each([
    ['an unknown symbol', 'BROKERA:ZERO:NOPE', '1'],
    ['a wrongly cased symbol', 'BROKERA:ZERO:eurusd', '1'],
    ['a wrongly cased feed', 'brokera:ZERO:EURUSD', '1'],
    ['a feed that does not exist', 'BROKERX:LIVE:EURUSD', '1'],
    ['fewer than three parts', 'BROKERA:ZERO', '1'],
    ['empty parts', '::', '1'],
    ['a name with one more colon', 'BROKERA:ZERO:EUR:USD', '1'],
    ['a symbol named like a property', 'BROKERA:ZERO:__proto__', '1'],
    ['a name like a property', 'constructor', '1'],
    ['a resolution that the feed does not serve', 'BROKERC:TADIL:EURUSD', '1'],
    ['30 without 1', 'BROKERC:TADIL:EURUSD', '30'],
    ['a resolution without bars', 'BROKERA:ZERO:EURUSD', '5'],
  ])('%s is no_data', async (_, symbol, resolution) => {
    const { status, text } = await ask(`symbol=${symbol}&resolution=${resolution}&countback=5`)
    expect([status, text]).toEqual([200, '{"s":"no_data"}'])
  })

  test('a feed that is not granted is 403 naming it, after the parameters and before the look-up', async () => {
    for (const name of ['EURUSD', 'NOPE']) {
      const { status, body } = await ask(`symbol=BROKERB:LIVE:${name}&resolution=1&countback=5`)
      expect([status, body.error.code]).toEqual([403, 'SYMBOL_NOT_PERMITTED'])
      expect(body.errmsg).toContain('BROKERB:LIVE')
    }
    expect((await ask('symbol=BROKERB:LIVE:EURUSD&resolution=7&countback=5')).status).toBe(422)
  })

  test("from and to are times on the feed's clock, not UTC", async () => {
    const hours = 'symbol=BROKERC:TADIL:EURUSD&resolution=60'
    expect(await times(`${hours}&from=${day}&to=${noon}`)).toEqual([])
    expect(await times(`${hours}&from=${day - tadilOffset}&to=${noon - tadilOffset}`)).toHaveLength(2)
    expect(await times(`${hours}&countback=1`)).toEqual([day - tadilOffset + 3600])
  })

  test('a live bar is in the answer before the store has it', async () => {
    const bar = { ...aBar(day + 36_000, 1.2, 7), revision: utcMs(noon * 1000) }
    const symbol = aSymbol('BROKERA:ZERO:SLOW')
    const slow = `symbol=${symbol.symbol}&resolution=1`
    await edge.stores.bus.publish(
      { type: 'bars', feed: symbol.feed, bars: [{ symbol: symbol.symbol, resolution: '1', bar }] },
      1,
    )
    await edge.clock.advance(0)
    expect(await times(`${slow}&countback=2`)).toEqual([day + 36_000])
    expect(await times(`${slow}&from=${day + 36_000}&to=${day + 36_000}`)).toEqual([day + 36_000])
  })

  test('HEAD is like GET, its body left out', async () => {
    const target = `/v1/history?${eurusd}&from=${day}&to=${day + 60}`
    const [got, head] = [
      await edge.ask(target, { key: 1 }),
      await edge.ask(target, { key: 1, method: 'HEAD' }),
    ]
    expect(head.text).toBe('')
    expect(head.headers['content-length']).toBe(got.headers['content-length'])
    expect(head.headers['content-type']).toBe(got.headers['content-type'])
  })
})

describe('thirty minutes', () => {
  const half = 'symbol=BROKERA:ZERO:EURUSD&resolution=30'
  const halves = Array.from({ length: 20 }, (_, i) => day + i * 1800)

  test('are folded from the minutes', async () => {
    const { body } = await ask(`${half}&from=${day}&to=${day + 1800}`)
    expect(body).toMatchObject({
      t: [day, day + 1800],
      o: [1.1, 1.1003],
      c: [1.10029, 1.10059],
      v: [435, 1335],
      meta: { resolution: '30', bar_count: 2 },
    })
  })

  test.each([
    [`from=${day + 1}&to=${day + 5400}`, halves.slice(1, 4)],
    [`from=${day + 1}&to=${day + 1799}`, []],
    [`countback=3&to=${day + 9_000}`, halves.slice(3, 6)],
    [`countback=2`, halves.slice(18)],
  ])('%s', async (query, expected) => {
    expect(await times(`${half}&${query}`)).toEqual(expected)
  })
})

describe('a very long answer', () => {
  const wide = `symbol=BROKERA:ZERO:__proto__&resolution=1&from=0&to=${day}`
  const count = 120_000

  beforeAll(async () => {
    const start = day - count * 60
    for (let i = 0; i < count; i += 40_000) {
      const part = Array.from({ length: 40_000 }, (_, j) => aBar(start + (i + j) * 60, 1 + (i + j) / 1e5, j))
      await edge.store('BROKERA:ZERO:__proto__', '1', part)
    }
  })

  test('is answered whole, aligned and in order, with its length', async () => {
    const { body, text, headers } = await ask(wide)
    expect(body.meta.bar_count).toBe(count)
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
    for (const column of ['t', 'o', 'h', 'l', 'c', 'v'] as const) expect(body[column]).toHaveLength(count)
    expect(body.t[0]).toBe(day - count * 60)
    expect(body.t.every((time, i) => i === 0 || time === body.t[i - 1]! + 60)).toBe(true)
    expect(body.o[99_999]).toBe(1 + 99_999 / 1e5)
  })

  test('more of them than the memory allows at once are all answered', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(wide)))
    expect(answers.map(({ status, body }) => [status, body.meta.bar_count])).toEqual(
      Array.from({ length: 6 }, () => [200, count]),
    )
    expect(await edge.metrics()).toMatch(/fxd_history_long_answers\{state="held"\} 0/)
  }, 60_000)
})
