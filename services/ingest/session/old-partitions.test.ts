import { expect, test } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'

const suite = new SessionFixture({ isPartitioned: true })
const week = 7 * 86_400

/** Times of `count` bars, one a week, that end `before` weeks ago. */
const weekly = (count: number, before = 1): number[] =>
  Array.from({ length: count }, (_, i) => suite.minute - (before + count - 1 - i) * week)

test.each(['LIVE', 'IMPORT'] as const)(
  'a message with bars of 33 weeks is refused in a session of mode %s, one of 32 weeks is stored',
  async (mode) => {
    const session = suite.connect()
    await session.hello(suite.feed.key, { mode })
    const { ack, refused } = await session.bars('BACKFILL', [seriesAt('EURUSD', weekly(33))])
    expect(ack).toMatchObject({ accepted: 0 })
    expect(refused).toEqual([
      expect.objectContaining({
        count: 33,
        message: expect.stringContaining('33 partitions, wanted at most 32') as unknown,
      }),
    ])
    expect(refused[0]?.message).toContain('send it by time')
    expect((await session.bars('BACKFILL', [seriesAt('EURUSD', weekly(32))])).ack).toMatchObject({
      accepted: 32,
    })
    await session.close()
  },
)

test('a message is refused for the partitions of all its series together', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const { ack, refused } = await session.bars('LIVE', [
    seriesAt('EURUSD', weekly(20)),
    seriesAt(
      'EURUSD',
      weekly(20).map((time) => time - (time % 300)),
      { resolution: '5' },
    ),
    seriesAt(
      'EURUSD',
      weekly(400).map((time) => time - (time % 86_400)),
      { resolution: '1D' },
    ),
  ])
  expect(ack).toMatchObject({ accepted: 0 })
  expect(refused.map(({ series, count }) => [series, count])).toEqual([
    [0, 20],
    [1, 20],
    [2, 400],
  ])
  expect(refused[0]?.message).toContain('33 partitions')
  await session.close()
})

test('a feed opens 100 old partitions at once, then waits for the next; its live bars do not wait', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const at = [128, 96, 64, 32].map((before) => weekly(32, before))
  for (const times of at) await session.bars('BACKFILL', [seriesAt('EURUSD', times)])
  const late = session.bars('BACKFILL', [seriesAt('EURUSD', weekly(31))])
  let isStored = false
  void late.then(() => (isStored = true))
  await session.bars('LIVE', [seriesAt('EURUSD', [suite.minute - 60])])
  await suite.clock.advance(15_000)
  expect(isStored).toBe(false)
  // Bars of partitions that are open do not wait.
  await session.bars('BACKFILL', [seriesAt('EURUSD', [(at[0]?.[0] ?? 0) + 60])])
  expect(isStored).toBe(false)
  await suite.clock.advance(2_000)
  expect((await late).ack).toMatchObject({ accepted: 31 })
  await session.close()
})

test('live bars of old partitions wait, too', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  for (const before of [129, 97, 65, 33]) await session.bars('LIVE', [seriesAt('EURUSD', weekly(32, before))])
  const fromMs = suite.clock.monotonicMs()
  const late = session.bars('LIVE', [seriesAt('EURUSD', weekly(32))])
  let isStored = false
  void late.then(() => (isStored = true))
  while (!isStored) await suite.clock.advance(100)
  expect(suite.clock.monotonicMs() - fromMs).toBeGreaterThanOrEqual(16_700)
  await session.close()
})

test('bars that wait when their collector leaves are not stored', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  for (const before of [129, 97, 65, 33])
    await session.bars('BACKFILL', [seriesAt('EURUSD', weekly(32, before))])
  session.post('BACKFILL', [seriesAt('EURUSD', weekly(32))])
  // Its Ack shows that the message before it waits.
  await session.bars('LIVE', [seriesAt('EURUSD', [suite.minute - 60])])
  session.stream.cancel()
  const next = suite.connect()
  await next.hello(suite.feed.key)
  await suite.clock.advance(60_000)
  expect((await suite.times()).length).toBe(129)
  await next.close()
})

test('bars that waited when their collector left wait again in its next session', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  for (const before of [160, 128, 96, 64])
    await session.bars('BACKFILL', [seriesAt('EURUSD', weekly(32, before))])
  session.post('BACKFILL', [seriesAt('EURUSD', weekly(32, 32))])
  await session.bars('LIVE', [seriesAt('EURUSD', [suite.minute - 60])])
  session.stream.cancel()
  await session.ended
  const next = suite.connect()
  await next.hello(suite.feed.key)
  const again = next.bars('BACKFILL', [seriesAt('EURUSD', weekly(32, 32))])
  let isStored = false
  void again.then(() => (isStored = true))
  await next.bars('LIVE', [seriesAt('EURUSD', [suite.minute - 60])])
  await suite.clock.advance(10_000)
  expect(isStored).toBe(false)
  while (!isStored) await suite.clock.advance(1_000)
  await next.close()
})

test('bars that wait when their collector closed its side are stored and acknowledged', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  for (const before of [160, 128, 96, 64])
    await session.bars('BACKFILL', [seriesAt('EURUSD', weekly(32, before))])
  const late = session.bars('BACKFILL', [seriesAt('EURUSD', weekly(32, 32))])
  await session.bars('LIVE', [seriesAt('EURUSD', [suite.minute - 60])])
  session.stream.end()
  let isOver = false
  void session.ended.then(() => (isOver = true))
  while (!isOver) await suite.clock.advance(1_000)
  expect((await late).ack).toMatchObject({ accepted: 32 })
  expect((await session.ended).code).toBe('OK')
})

test('a window over bars that were refused for their partitions is refused until they come by time', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const times = weekly(33)
  const [first, last] = [times[0] as number, times.at(-1) as number]
  await session.bars('BACKFILL', [seriesAt('EURUSD', times)])
  const claim = async (): Promise<readonly string[]> => {
    const answers = [
      await session.window('1', first, last + 60, 'EURUSD'),
      await session.window('1', first, last + 60),
    ]
    return answers.flatMap(({ refused }) => refused.map(({ message }) => message))
  }
  expect(await claim()).toEqual([
    expect.stringContaining(`send the bar of ${first} again, by time`),
    expect.stringContaining(`send the bar of ${first} again, by time`),
  ])
  await session.bars('BACKFILL', [seriesAt('EURUSD', times.slice(0, 20))])
  expect(await claim()).toHaveLength(2)
  await session.bars('BACKFILL', [seriesAt('EURUSD', times.slice(20))])
  expect(await claim()).toEqual([])
  await session.close()
})
