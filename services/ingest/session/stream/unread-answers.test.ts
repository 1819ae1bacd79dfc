import { expect, test } from 'vitest'
import { type RawSession, seriesAt } from '../../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../../test/support/fixtures/session-fixture.ts'
import { sessionsPerFeedMax } from '../open-sessions.ts'

const suite = new SessionFixture()
const batchBars = 1_000

const refusedBars = (): Promise<number> =>
  suite.fixture.metrics.total('fxd_ingest_refused_bars_total', { reason: 'off_grid' })

const ended = (): Promise<number> =>
  suite.fixture.metrics.total('fxd_ingest_sessions_ended_total', { code: 'RESOURCE_EXHAUSTED' })

/** Each answer has some 100 KiB: every bar is refused with its own text. */
function postRefused(session: RawSession, batches: number): number[] {
  const times = Array.from({ length: batchBars }, (_, i) => suite.minute - (batchBars - i) * 60 + 1)
  return Array.from({ length: batches }, () => session.post('BACKFILL', [seriesAt('EURUSD', times)]))
}

/** Resolves with the number of refused bars once it has grown beyond `start` and no longer grows. */
async function settled(start: number): Promise<number> {
  for (let before = -1; ; ) {
    const now = await refusedBars()
    if (now === before && now > start) return now
    before = now
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/**
 * Time passes until `count` sessions have ended. Before that, the store answers what it was asked: its calls have
 * deadlines. Afterwards it answers each second. `start` is the number of refused bars before the test posted any.
 */
async function untilEnded(count: number, start: number): Promise<void> {
  const before = await ended()
  await settled(start)
  const after = async (): Promise<number> => {
    await suite.clock.advance(1_000)
    await suite.fixture.registry.refresh()
    return (await ended()) - before
  }
  await expect.poll(after, { interval: 1, timeout: 40_000 }).toBe(count)
}

test('messages of a collector that does not read its answers wait, and all are answered once it reads', async () => {
  const session = suite.connect()
  await session.hello(suite.feed.key)
  session.stream.pause()
  const before = await refusedBars()
  const sequences = postRefused(session, 100)
  expect((await settled(before)) - before).toBeLessThan(30 * batchBars)
  session.stream.resume()
  for (const sequence of sequences) expect((await session.answer(sequence)).ack.accepted).toBe(0)
  expect((await refusedBars()) - before).toBe(100 * batchBars)
  expect((await session.bars('LIVE', [seriesAt('EURUSD', [suite.minute - 60])])).ack.accepted).toBe(1)
  await session.close()
}, 60_000)

test('a collector that reads no answer for a minute loses its session to the standby', async () => {
  const stuck = suite.connect()
  await stuck.hello(suite.feed.key)
  stuck.stream.pause()
  const start = await refusedBars()
  postRefused(stuck, 100)
  const standby = suite.connect()
  const promoted = standby.hello(suite.feed.key, { id: 'collector-2' })
  expect((await standby.next('welcome')).active).toBe(false)
  await untilEnded(1, start)
  await suite.clock.advance(15_000)
  expect((await promoted).welcome?.active).toBe(true)
  stuck.stream.resume()
  expect(await stuck.ended).toEqual({
    code: 'RESOURCE_EXHAUSTED',
    details: 'the collector read no answer for 60 s',
  })
  await standby.close()
}, 60_000)

test('a session counts towards the maximum of its feed until its answers are read', async () => {
  const start = await refusedBars()
  const stuck = await Promise.all(
    Array.from({ length: sessionsPerFeedMax }, async () => {
      const session = suite.connect()
      await session.hello(suite.feed.key, { mode: 'IMPORT' })
      session.stream.pause()
      postRefused(session, 20)
      return session
    }),
  )
  await untilEnded(sessionsPerFeedMax, start)

  const refused = suite.connect()
  refused.hello(suite.feed.key, { mode: 'IMPORT' }).catch(() => undefined)
  expect((await refused.ended).details).toContain(`${sessionsPerFeedMax} sessions open`)
  stuck[0]?.stream.resume()
  await stuck[0]?.ended
  const next = suite.connect()
  await next.hello(suite.feed.key, { mode: 'IMPORT' })
  await next.close()
  for (const { stream } of stuck) stream.cancel()
}, 60_000)
