import { credentials, Metadata, status } from '@grpc/grpc-js'
import { describe, expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import { testToken } from '../../../test/support/fixtures/ingest-fixture.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { Registry } from '../../wire/load.ts'

const suite = new SessionFixture()

describe('Hello', () => {
  test('an unknown feed is refused with a suggestion of a similar one', async () => {
    const session = suite.connect()
    session.hello('BROKERA:ZER0').catch(() => undefined)
    expect(await session.ended).toEqual({
      code: 'NOT_FOUND',
      details: 'there is no feed "BROKERA:ZER0" (did you mean BROKERA:ZERO?)',
    })
  })

  test('a session without the token, or with another one, is refused', async () => {
    for (const token of ['', 'another']) {
      const session = new RawSession(suite.fixture.address, token)
      session.hello(suite.feed.key).catch(() => undefined)
      expect((await session.ended).code).toBe('UNAUTHENTICATED')
    }
  })

  test('administration needs the same token', async () => {
    const client = new Registry(suite.fixture.address, credentials.createInsecure())
    const call = (token: string): Promise<string> => {
      const metadata = new Metadata()
      if (token !== '') metadata.set('authorization', `Bearer ${token}`)
      return new Promise((resolve) => {
        client.ListFeeds({}, metadata, (error) => resolve(status[error?.code ?? status.OK] ?? ''))
      })
    }
    expect(await call('')).toBe('UNAUTHENTICATED')
    expect(await call(`${testToken}x`)).toBe('UNAUTHENTICATED')
    expect(await call(testToken)).toBe('OK')
    client.close()
  })

  test('a connection without a Hello is closed after ten seconds', async () => {
    const session = suite.connect()
    session.stream.write({})
    expect((await session.ended).code).toBe('INVALID_ARGUMENT')
    const before = suite.clock.pending
    const silent = suite.connect()
    await expect.poll(() => suite.clock.pending).toBeGreaterThan(before)
    await suite.clock.advance(10_000)
    expect((await silent.ended).code).toBe('DEADLINE_EXCEEDED')
  })

  test("Welcome contains ingest's time, the feed's time and the resolutions of the feed", async () => {
    const noon = suite.minute
    const session = suite.connect()
    const { welcome } = await session.hello(suite.mid.key)
    expect(welcome).toMatchObject({
      active: true,
      utcMs: noon * 1000,
      feedNow: noon + 10_800,
      resolutions: ['1', '5', '60', '1D'],
      midQuoted: true,
    })
    await session.close()
  })

  test('Known contains the newest stored bar and the windows of each series', async () => {
    const noon = suite.minute
    const first = suite.connect()
    await first.hello(suite.feed.key)
    await first.bars('BACKFILL', [seriesAt('EURUSD', [noon - 180, noon - 120])])
    await first.window('1', noon - 180, noon - 60, 'EURUSD')
    await first.window('60', noon - 600, noon - 300)
    await first.close()
    const second = suite.connect()
    await second.hello(suite.feed.key)
    const { series } = await second.next('known')
    expect(series).toEqual(
      [
        {
          symbol: 'EURUSD',
          resolution: '1',
          newest: noon - 120,
          windows: [noon - 180, 120],
          _newest: 'newest',
        },
        { symbol: '', resolution: '60', windows: [noon - 600, 300] },
      ].toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1)),
    )
    await second.close()
  })
})

test('Known leaves out bars that were accepted but could not be stored', async () => {
  const noon = suite.minute
  const first = suite.connect()
  await first.hello(suite.feed.key)
  await first.bars('LIVE', [seriesAt('EURUSD', [noon - 180])])
  const failing = suite.connect()
  await failing.hello(suite.feed.key, { mode: 'IMPORT' })
  const full = Promise.reject(new Error('full'))
  full.catch(() => undefined)
  suite.backfillGate = full
  failing.post('BACKFILL', [seriesAt('EURUSD', [noon - 120, noon - 60])])
  await failing.ended
  suite.backfillGate = Promise.resolve()
  const second = suite.connect()
  second.hello(suite.feed.key, { id: 'collector-2' }).catch(() => undefined)
  await second.next('welcome')
  const beside = suite.connect()
  await beside.hello(suite.feed.key, { mode: 'IMPORT' })
  await first.close()
  await suite.clock.advance(15_000)
  expect((await second.next('known')).series).toMatchObject([{ symbol: 'EURUSD', newest: noon - 180 }])
  await Promise.all([beside.close(), second.close()])
})

describe('leader and standby', () => {
  test('a second collector stands by and takes over within fifteen seconds', async () => {
    const noon = suite.minute
    const active = suite.connect()
    await active.hello(suite.feed.key)
    const second = suite.connect()
    const promoted = second.hello(suite.feed.key, { id: 'collector-2' })
    expect((await second.next('welcome')).active).toBe(false)
    await active.close()
    await suite.clock.advance(15_000)
    const { welcome } = await promoted
    expect(welcome?.epoch).toBeGreaterThan(0)
    expect((await second.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])).ack).toMatchObject({ accepted: 1 })
    await second.close()
  })

  test('the session of a standby that sends bars ends', async () => {
    const noon = suite.minute
    const active = suite.connect()
    await active.hello(suite.feed.key)
    const second = suite.connect()
    second.hello(suite.feed.key, { id: 'collector-2' }).catch(() => undefined)
    await second.next('welcome')
    second.send({ heartbeat: { terminalConnected: true } })
    second.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect((await second.ended).code).toBe('FAILED_PRECONDITION')
    await active.close()
  })

  test('a reconnecting collector does not stand by behind its own old connection', async () => {
    const dead = suite.connect()
    await dead.hello(suite.feed.key)
    const back = suite.connect()
    const { welcome } = await back.hello(suite.feed.key)
    expect(welcome?.active).toBe(true)
    expect((await dead.ended).code).toBe('ABORTED')
    await back.close()
  })

  test('a session that ends while its lease is granted releases the lease', async () => {
    const gate = Promise.withResolvers<void>()
    suite.leaseGate = gate.promise
    const dead = suite.connect()
    dead.hello(suite.feed.key).catch(() => undefined)
    await expect.poll(() => suite.order).toContain('acquire')
    const ended = (): Promise<number> =>
      suite.fixture.metrics.total('fxd_ingest_sessions_ended_total', { code: 'OK' })
    const endedBefore = await ended()
    dead.stream.cancel()
    await expect.poll(ended).toBe(endedBefore + 1)
    gate.resolve()
    const next = suite.connect()
    next.hello(suite.feed.key, { id: 'collector-2' }).catch(() => undefined)
    expect((await next.next('welcome')).active).toBe(true)
    await next.close()
  })

  test('a session without an answer about its lease for 5 s ends with a status that says what to do', async () => {
    const unavailable = Promise.reject(new Error('away'))
    unavailable.catch(() => undefined)
    suite.leaseGate = unavailable
    const session = suite.connect()
    session.hello(suite.feed.key).catch(() => undefined)
    await expect.poll(() => suite.order).toContain('acquire')
    await suite.clock.advance(5_000)
    expect(await session.ended).toEqual({
      code: 'UNAVAILABLE',
      details: `lease store unavailable: the lease of ${suite.feed.key} is unknown; connect to another ingest, or retry`,
    })
  })

  test('a session ends at once when another session of its ingest gets the lease, and every minute is pushed', async () => {
    const noon = suite.minute
    const first = suite.connect()
    await first.hello(suite.feed.key)
    const second = suite.connect()
    second.hello(suite.feed.key, { id: 'collector-2' }).catch(() => undefined)
    await second.next('welcome')
    suite.leasesAreEmpty = true
    await suite.clock.advance(1_000)
    await second.find(({ welcome }) => welcome?.active === true)
    suite.leasesAreEmpty = false
    first.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect((await first.ended).code).toBe('ABORTED')
    await second.catalogue([], { snapshot: false })
    await second.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
    expect(suite.pushed()).toEqual([noon - 60])
    await second.close()
  })

  test('a session whose lease went to another ingest ends', async () => {
    const session = suite.connect()
    await session.hello(suite.feed.key)
    suite.leasesAreLost = true
    await suite.clock.advance(5_000)
    suite.leasesAreLost = false
    expect((await session.ended).code).toBe('ABORTED')
  })
})

describe('stopping', () => {
  test('received batches are acknowledged before sessions end with the stop of ingest, and no session begins', async () => {
    const noon = suite.minute
    const session = suite.connect()
    await session.hello(suite.feed.key)
    const gate = Promise.withResolvers<void>()
    suite.liveWrite = (write) => gate.promise.then(write)
    const sequence = session.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
    await expect.poll(() => suite.pushed()).toEqual([noon - 60])
    const closing = suite.fixture.close(5_000)
    expect(await session.another()).toBe('ingest is stopping; connect again')
    gate.resolve()
    expect((await session.answer(sequence)).ack).toMatchObject({ accepted: 1 })
    expect((await session.ended).code).toBe('UNAVAILABLE')
    await closing
  })
})
