import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
} from '../../../../test/support/fixtures/rest-fixture.ts'

const hour = 3_600

describe('polls in the evening on a clock that is ahead of UTC', () => {
  const dateOf = (month: number, date: number) => Date.UTC(2026, month - 1, date) / 1_000
  const evening = dateOf(1, 31) + 22 * hour
  let east: RestFixture
  let of = ''
  beforeAll(async () => {
    east = await openRestFixture({ start: evening * 1_000 })
    const feed = aFeed('BROKERA', 'ZERO', { clock: { mode: 'Fixed', offsetSeconds: -3 * hour } })
    await east.register(feed, aKey(1, ['BROKERA:ZERO']), aSymbol('BROKERA:ZERO:BTCUSD'))
    await east.store('BROKERA:ZERO:BTCUSD', '1D', [aBar(dateOf(1, 30)), aBar(dateOf(1, 31))])
    await east.store('BROKERA:ZERO:BTCUSD', '1W', [aBar(dateOf(1, 18)), aBar(dateOf(1, 25))])
    await east.store('BROKERA:ZERO:BTCUSD', '1M', [aBar(dateOf(1, 1))])
    // The first hour of Sunday, 1 February, on the clock of the feed.
    await east.store('BROKERA:ZERO:BTCUSD', '1', [aBar(dateOf(2, 1), 3), aBar(dateOf(2, 1) + 59 * 60, 4)])
    of = (await east.ask('/udf/token', { key: 1 })).body.token
  })
  afterAll(() => east.close())
  const ask = async (resolution: string, to: number, countback: number) => {
    const query = `symbol=BROKERA_ZERO:BTCUSD&resolution=${resolution}&from=0&to=${to}&countback=${countback}`
    return (await east.ask(`/udf/${of}/history?${query}`)).body
  }

  test.each([
    ['D', dateOf(1, 31), dateOf(2, 1)],
    ['W', dateOf(1, 25), dateOf(2, 1)],
    ['M', dateOf(1, 1), dateOf(2, 1)],
  ])('the running bar of %s is the last one, although its date has not begun in UTC', async (r, ...t) => {
    expect(await ask(r, evening, 2)).toMatchObject({ t, c: [1.5, 4] })
    expect(await ask(r, evening, 300)).toMatchObject({ s: 'ok', c: expect.arrayContaining([4]) as unknown })
  })

  test('a client that scrolls back from the running bar gets earlier ones', async () => {
    expect((await ask('D', dateOf(2, 1), 300)).t).toEqual([dateOf(1, 30), dateOf(1, 31)])
    expect((await ask('D', dateOf(1, 31), 300)).t).toEqual([dateOf(1, 30)])
  })
})
