import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { toList } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import { silentLog } from '../../platform/log/log.ts'
import { leaseMs } from '../../ports/lease.ts'
import type { Stores } from '../../ports/stores.ts'
import { applyFeeds } from '../../registry/apply-feeds.ts'
import { openEmbeddedStores } from '../../stores/embedded/open.ts'
import { registryClient } from '../../wire/unary-client.ts'
import { decodeWindows } from '../../wire/window-times.ts'

const feed = defineFeed({ symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] } })
const start = Date.UTC(2026, 0, 5, 12)
const noon = start / 1000

let clock: VirtualClock
let folder: string
let stores: Stores
/** Two ingests on the same stores. */
let one: IngestFixture
let other: IngestFixture
/** Wraps each live write of the other ingest. */
let otherWrite: (write: () => Promise<void>) => Promise<void>
/** Purges of bars at the one ingest wait for this promise. */
let purgeGate: Promise<void>
let barPurges: number
/** Requests for a lease at the one ingest. */
let leaseRequests: number
const full = (): Promise<never> => Promise.reject(new Unavailable('the full disk'))
const around = (inner: Stores): Stores => ({
  ...inner,
  bars: {
    ...inner.bars,
    write: (batch, lane) => otherWrite(() => inner.bars.write(batch, lane)),
  },
})
const aroundOne = (inner: Stores): Stores => ({
  ...inner,
  bars: {
    ...inner.bars,
    async purge(key) {
      barPurges += 1
      await purgeGate
      await inner.bars.purge(key)
    },
  },
  leases: {
    ...inner.leases,
    acquire(name, holder) {
      leaseRequests += 1
      return inner.leases.acquire(name, holder)
    },
  },
})
beforeEach(async () => {
  otherWrite = (write) => write()
  purgeGate = Promise.resolve()
  barPurges = 0
  leaseRequests = 0
  clock = createVirtualClock({ start })
  folder = mkdtempSync(join(tmpdir(), 'fxd-ingests-'))
  stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  one = await openIngestFixture([feed], { clock, stores, around: aroundOne })
  other = await openIngestFixture([feed], { clock, stores, around })
})
afterEach(async () => {
  await Promise.all([one.remove(), other.remove()])
  await stores.close()
  rmSync(folder, { recursive: true })
})

async function lead(fixture: IngestFixture, id: string): Promise<RawSession> {
  const session = new RawSession(fixture.address)
  await session.hello(feed.key, { id })
  return session
}
const published = (): unknown[] =>
  one.events.flatMap<unknown>(({ event }) => {
    if (event.type === 'bars') return event.bars.map(({ bar }) => bar.time)
    return event.type === 'revised' ? [`revised ${event.from}`] : []
  })

async function times(): Promise<number[]> {
  const series = { feed: feed.key, symbol: compoundKey(feed.key, 'EURUSD'), resolution: '1' as const }
  const stored = await stores.bars.read({ series, from: feedSeconds(0), to: feedSeconds(noon) })
  return toList(stored).map(({ time }) => time)
}

/** Defines these feeds and no others. */
async function define(...feeds: readonly FeedDefinition[]): Promise<void> {
  await applyFeeds(one.writer, feeds)
  await other.registry.refresh()
}

/** Purges the feed at the one ingest. */
async function purge(): Promise<void> {
  const client = registryClient(one.address, { token: testToken })
  await client.call('PurgeFeed', { key: feed.key }).finally(() => client.close())
}

/** Removes and purges the feed at the one ingest, and defines it again. */
async function beginAgain(): Promise<void> {
  await define()
  // A session that still ends no longer renews its lease.
  await clock.advance(leaseMs)
  await purge()
  await define(feed)
}

test('a standby at another ingest leads within a second of the release, with a greater epoch', async () => {
  const first = await lead(one, 'a')
  const standby = new RawSession(other.address)
  standby.hello(feed.key, { id: 'b' }).catch(() => undefined)
  await standby.find(({ welcome }) => welcome?.active === false)
  await first.close()
  await clock.advance(1_000)
  const { welcome } = await standby.find(({ welcome: each }) => each?.active === true)
  expect(Number(welcome?.epoch)).toBeGreaterThan(Number((await first.next('welcome')).epoch))
  await standby.close()
})

test('an ingest that leads again treats bars that another one published as history: a correction is never pushed', async () => {
  const first = await lead(one, 'a')
  await first.bars('LIVE', [seriesAt('EURUSD', [noon - 240])])
  await first.close()
  const between = await lead(other, 'b')
  await between.bars('LIVE', [seriesAt('EURUSD', [noon - 180, noon - 120])])
  await between.close()
  const again = await lead(one, 'a')
  const correction = seriesAt('EURUSD', [noon - 180], { close: 1.2, revision: 1_000_000_000_001 })
  expect((await again.bars('LIVE', [correction])).ack).toMatchObject({ accepted: 0, revised: 1 })
  await again.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
  expect(published()).toEqual([noon - 240, noon - 180, noon - 120, `revised ${noon - 180}`, noon - 60])
  await again.close()
})

test('when one ingest hides a feed, the other ingest ends the sessions of the feed, silent ones too', async () => {
  const session = await lead(other, 'a')
  const reading = new RawSession(other.address)
  await reading.hello(feed.key, { id: 'b', mode: 'IMPORT' })
  await applyFeeds(one.writer, [])
  for (const each of [session, reading]) {
    expect(await each.ended).toEqual({
      code: 'FAILED_PRECONDITION',
      details: `${feed.key} is no longer defined`,
    })
  }
})

test('pushed bars that one ingest could not store do not come back after another one purged their feed', async () => {
  const session = await lead(other, 'a')
  const gate = Promise.withResolvers<void>()
  const writes = [full, () => gate.promise.then(full)]
  otherWrite = (write) => (writes.shift() ?? write)()
  session.post('LIVE', [seriesAt('EURUSD', [noon - 240])])
  session.post('LIVE', [seriesAt('EURUSD', [noon - 180])])
  await expect.poll(() => writes.length).toBe(0)
  await beginAgain()
  gate.resolve()
  await session.ended
  const again = await lead(other, 'a')
  await again.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
  expect(await times()).toEqual([noon - 60])
  await again.close()
})

test('after a purge at another ingest, bars are pushed although their times are before those of the purged bars', async () => {
  const session = await lead(other, 'a')
  await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
  await session.close()
  await beginAgain()
  const again = await lead(other, 'a')
  await again.bars('LIVE', [seriesAt('EURUSD', [noon - 600])])
  expect(published()).toEqual([noon - 60, noon - 600])
  await again.close()
})

/** Holds the live writes of the other ingest while its session with one bar and its window in flight ends. */
async function endSlowly() {
  const session = await lead(other, 'a')
  const gate = Promise.withResolvers<void>()
  let isWriting = false
  otherWrite = async (write) => {
    isWriting = true
    await gate.promise
    await write()
  }
  session.post('LIVE', [seriesAt('EURUSD', [noon - 120])])
  session.postWindow('1', noon - 120, noon - 60)
  await expect.poll(() => isWriting).toBe(true)
  await define()
  return { session, release: () => gate.resolve() }
}

test('a purge waits for a session that ends at another ingest, and removes its last bars and windows', async () => {
  const { session, release } = await endSlowly()
  const purged = purge()
  await expect.poll(() => leaseRequests).toBe(1)
  release()
  await session.ended
  await expect.poll(() => other.metrics.total('fxd_ingest_sessions', {})).toBe(0)
  await clock.advance(1_000)
  await purged
  expect(await times()).toEqual([])
  expect(await stores.windows.of(feed.key)).toEqual([])
})

test('a purge is refused after 5 s while a session at another ingest has not ended, and succeeds afterwards', async () => {
  const { session, release } = await endSlowly()
  const refused = purge().catch((cause: { details: string }) => cause.details)
  await expect.poll(() => leaseRequests).toBe(1)
  await clock.advance(5_000)
  expect(await refused).toBe(
    `${feed.key} is not purged: a session at another ingest has not ended. Run the purge again.`,
  )
  release()
  await session.ended
  await expect.poll(() => other.metrics.total('fxd_ingest_sessions', {})).toBe(0)
  await purge()
  expect(await stores.windows.of(feed.key)).toEqual([])
})

test('bars and windows that wait during a purge are dropped, although the lease of their session has expired', async () => {
  const { session, release } = await endSlowly()
  await clock.advance(leaseMs)
  const gate = Promise.withResolvers<void>()
  purgeGate = gate.promise
  const purged = purge()
  await expect.poll(() => barPurges).toBe(1)
  release()
  await session.ended
  gate.resolve()
  await purged
  expect(await times()).toEqual([])
  expect(await stores.windows.of(feed.key)).toEqual([])
})

test('a session of a feed that begins again during its purge waits, and what it stores stays', async () => {
  const before = await lead(other, 'a')
  await before.bars('LIVE', [seriesAt('EURUSD', [noon - 120])])
  await before.window('1', noon - 120, noon - 60)
  await before.close()
  await define()
  const gate = Promise.withResolvers<void>()
  purgeGate = gate.promise
  const purged = purge()
  await expect.poll(() => barPurges).toBe(1)
  await define(feed)
  const again = new RawSession(other.address)
  const led = again.hello(feed.key, { id: 'a' })
  expect((await again.next('welcome')).active).toBe(false)
  gate.resolve()
  await purged
  await clock.advance(1_000)
  await led
  await again.bars('LIVE', [seriesAt('EURUSD', [noon - 120])])
  await again.window('1', noon - 120, noon - 60)
  expect(await times()).toEqual([noon - 120])
  expect(await stores.windows.of(feed.key)).toMatchObject([{ from: noon - 120, to: noon - 60 }])
  await again.close()
})

test('a backfill at one ingest ends the session at another, and its next session is told what is missing', async () => {
  const session = await lead(other, 'a')
  await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 600])])
  await session.window('1', noon - 600, noon - 60, 'EURUSD')
  // A session that begins while live bars wait for the store is told what ingest has in memory.
  const committed = Promise.withResolvers<void>()
  let isWriting = false
  otherWrite = async (write) => {
    isWriting = true
    await committed.promise
    await write()
  }
  session.post('LIVE', [seriesAt('EURUSD', [noon - 60])])
  await expect.poll(() => isWriting).toBe(true)
  const client = registryClient(one.address, { token: testToken })
  const range = { from: noon - 300, to: noon - 240 }
  await client.call('Backfill', { feed: feed.key, ...range }).finally(() => client.close())
  expect(await session.ended).toMatchObject({ code: 'UNAVAILABLE' })
  const next = await lead(other, 'a')
  const { windows } = (await next.next('known')).series[0] ?? { windows: [] }
  expect(decodeWindows(windows)).toEqual([
    { from: noon - 600, to: noon - 300 },
    { from: noon - 240, to: noon - 60 },
  ])
  committed.resolve()
  await next.close()
})
