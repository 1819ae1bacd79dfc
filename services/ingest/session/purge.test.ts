import { credentials, Metadata } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { testToken } from '../../../test/support/fixtures/ingest-fixture.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { Registry } from '../../wire/load.ts'

const suite = new SessionFixture()

function purge(key: string): Promise<number> {
  const client = new Registry(suite.fixture.address, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${testToken}`)
  return new Promise<number>((resolve, reject) => {
    client.PurgeFeed({ key }, metadata, (error, response) =>
      error ? reject(error) : resolve(response?.series ?? 0),
    )
  }).finally(() => client.close())
}

/** Hides the feed, as after the removal of its manifest. */
const hide = (key: string): Promise<void> =>
  suite.fixture.writer.change((view) => ({
    rows: view
      .allFeeds()
      .filter(({ definition }) => definition.key === key)
      .map((feed) => ({ kind: 'feed', id: feed.definition.key, body: { ...feed, hidden: true } })),
    result: undefined,
  }))

test('batches in flight during a purge leave nothing in the store', async () => {
  const noon = suite.minute
  const session = suite.connect()
  await session.hello(suite.feed.key)
  await session.bars('LIVE', [seriesAt('EURUSD', [noon - 180])])
  await session.window('1', noon - 180, noon - 120)
  const gate = Promise.withResolvers<void>()
  let isWriting = false
  suite.liveWrite = async (write) => {
    isWriting = true
    await gate.promise
    await write()
  }
  session.post('LIVE', [seriesAt('EURUSD', [noon - 120])])
  await expect.poll(() => isWriting).toBe(true)
  await hide(suite.feed.key)
  const purged = purge(suite.feed.key)
  await expect.poll(() => suite.fixture.metrics.total('fxd_ingest_sessions_ended_total', {})).toBe(1)
  gate.resolve()
  expect(await purged).toBe(1)
  expect((await session.ended).code).toBe('FAILED_PRECONDITION')
  await suite.clock.advance(60_000)
  expect(await suite.times()).toEqual([])
  expect(await suite.fixture.stores.windows.of(suite.feed.key)).toEqual([])
})

test('a purge removes the liveness of the feed', async () => {
  const { key } = suite.feed
  const session = suite.connect()
  await session.hello(key)
  await session.bars('LIVE', [seriesAt('EURUSD', [suite.minute - 60])])
  const liveness = () => suite.fixture.stores.board.read([key])
  await expect.poll(async () => (await liveness()).has(key)).toBe(true)
  await hide(key)
  await purge(key)
  expect(await liveness()).toEqual(new Map())
})

test('a purge waits for the write of bars that an ended session left, and none of them comes back', async () => {
  const noon = suite.minute
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const gate = Promise.withResolvers<void>()
  let isWriting = false
  suite.liveWrite = async (write) => {
    isWriting = true
    await gate.promise
    await write()
  }
  session.post('LIVE', [seriesAt('EURUSD', [noon - 180])])
  await expect.poll(() => isWriting).toBe(true)
  session.stream.cancel()
  await expect.poll(() => suite.fixture.metrics.total('fxd_ingest_sessions', {})).toBe(0)
  suite.liveWrite = (write) => write()
  await hide(suite.feed.key)
  let isPurged = false
  const purged = purge(suite.feed.key).then(() => (isPurged = true))
  const beside = suite.connect()
  await beside.hello(suite.mid.key)
  await beside.close()
  expect(isPurged).toBe(false)
  gate.resolve()
  await purged
  await suite.fixture.writer.change((view) => ({
    rows: view
      .allFeeds()
      .filter(({ hidden }) => hidden)
      .map((feed) => ({ kind: 'feed', id: feed.definition.key, body: { ...feed, hidden: false } })),
    result: undefined,
  }))
  const next = suite.connect()
  await next.hello(suite.feed.key)
  await next.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
  expect(await suite.times()).toEqual([noon - 60])
  await next.close()
})
