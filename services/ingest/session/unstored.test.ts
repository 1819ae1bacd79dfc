import { describe, expect, test } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { TableOutOfOrder, Unavailable } from '../../core/failure.ts'

const suite = new SessionFixture()
const full = (): Promise<never> => Promise.reject(new Unavailable('the full disk'))

test('a pushed bar whose write failed is stored before `applied` of later bars', async () => {
  const noon = suite.minute
  const first = suite.connect()
  await first.hello(suite.feed.key)
  suite.liveWrite = full
  first.post('LIVE', [seriesAt('EURUSD', [noon - 180])])
  expect((await first.ended).code).toBe('UNAVAILABLE')
  expect(suite.pushed()).toEqual([noon - 180])
  expect(await suite.times()).toEqual([])

  suite.liveWrite = (write) => write()
  const second = suite.connect()
  await second.hello(suite.feed.key)
  suite.order.length = 0
  await second.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
  expect(suite.order).toEqual(['bars', 'committed', 'applied'])
  expect(await suite.times()).toEqual([noon - 180, noon - 60])
  await second.close()
})

test('bars of a write that fails after the end of its session are stored by the next session', async () => {
  const noon = suite.minute
  const gate = Promise.withResolvers<void>()
  const first = suite.connect()
  await first.hello(suite.feed.key)
  const writes = [full, () => gate.promise.then(full)]
  suite.liveWrite = (write) => (writes.shift() ?? write)()
  first.post('LIVE', [seriesAt('EURUSD', [noon - 180])])
  first.post('LIVE', [seriesAt('EURUSD', [noon - 120])])
  await expect.poll(() => suite.pushed()).toEqual([noon - 180, noon - 120])
  let isOver = false
  void first.ended.then(() => void (isOver = true))
  const beside = suite.connect()
  await beside.hello(suite.feed.key, { mode: 'IMPORT' })
  await beside.bars('BACKFILL', [seriesAt('EURUSD', [noon - 240])])
  expect(isOver).toBe(false)
  gate.resolve()
  await first.ended
  const second = suite.connect()
  await second.hello(suite.feed.key)
  await second.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
  expect(await suite.times()).toEqual([noon - 240, noon - 180, noon - 120, noon - 60])
  await Promise.all([second.close(), beside.close()])
})

describe('a live batch with bars of a table out of order', () => {
  const outOfOrder = (): Promise<never> => Promise.reject(new TableOutOfOrder('bars', 'is missing'))

  test('gets no Ack, and the session goes on pushing and storing; no window covers its bars', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    suite.liveWrite = outOfOrder
    const waiting = session.post('LIVE', [seriesAt('EURUSD', [noon - 180])])
    const window = session.postWindow('1', noon - 180, noon - 120)
    await expect.poll(() => suite.pushed()).toEqual([noon - 180])
    suite.liveWrite = (write) => write()
    const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 120])])
    expect(ack.accepted).toBe(1)
    expect(suite.pushed()).toEqual([noon - 180, noon - 120])
    expect(await suite.times()).toEqual([noon - 120])
    await session.close()
    expect(session.received.filter((each) => [waiting, window].includes(each.ack?.sequence ?? 0))).toEqual([])
    expect(await suite.fixture.stores.windows.of(suite.feed.key)).toEqual([])
  })

  test('does not keep the next session from pushing, also if it first failed for another reason', async () => {
    const noon = suite.minute
    const first = suite.connect()
    await first.hello(suite.feed.key)
    suite.liveWrite = full
    first.post('LIVE', [seriesAt('EURUSD', [noon - 180])])
    expect((await first.ended).code).toBe('UNAVAILABLE')
    suite.liveWrite = outOfOrder
    const second = suite.connect()
    await second.hello(suite.feed.key)
    second.post('LIVE', [seriesAt('EURUSD', [noon - 120])])
    await expect.poll(() => suite.pushed()).toEqual([noon - 180, noon - 120])
    suite.liveWrite = (write) => write()
    await second.close()
    const third = suite.connect()
    await third.hello(suite.feed.key)
    await third.bars('LIVE', [seriesAt('EURUSD', [noon - 180, noon - 120])])
    expect(await suite.times()).toEqual([noon - 180, noon - 120])
    await third.close()
  })
})

test('while pushed bars cannot be stored, no live session starts and no further bar is pushed', async () => {
  const noon = suite.minute
  const first = suite.connect()
  await first.hello(suite.feed.key)
  suite.liveWrite = full
  first.post('LIVE', [seriesAt('EURUSD', [noon - 180])])
  await first.ended
  const second = suite.connect()
  second.hello(suite.feed.key).catch(() => undefined)
  second.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
  expect((await second.ended).code).toBe('UNAVAILABLE')
  expect(suite.pushed()).toEqual([noon - 180])
  expect(suite.busEvents('applied')).toEqual([])
})
