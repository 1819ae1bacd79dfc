import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { silentLog } from '../../platform/log/log.ts'
import type { FeedBoard } from '../../ports/feed-board.ts'
import type { Stores } from '../../ports/stores.ts'
import { applyFeeds } from '../../registry/apply-feeds.ts'
import { openEmbeddedStores } from '../../stores/embedded/open.ts'

const symbols = { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] }
const push = defineFeed({ account: 'PUSH', symbols })
const hourly = defineFeed({ account: 'HOURLY', symbols, resolutions: ['1D', '60'] })
const monthly = defineFeed({ account: 'MONTHLY', symbols, resolutions: ['1M'] })
const noon = Date.UTC(2026, 0, 5, 12) / 1_000
const boardReadMs = 10_000

let clock: VirtualClock
let folder: string
let stores: Stores
/** Two ingests on the same stores. */
let one: IngestFixture
let other: IngestFixture
let isBoardAvailable = true
const failing = (board: FeedBoard): FeedBoard => {
  const through = <T>(call: () => Promise<T>): Promise<T> =>
    isBoardAvailable ? call() : Promise.reject(new Unavailable('the board'))
  return {
    ...board,
    note: (feed, liveness) => through(() => board.note(feed, liveness)),
    read: (feeds) => through(() => board.read(feeds)),
  }
}
beforeEach(async () => {
  isBoardAvailable = true
  folder = mkdtempSync(join(tmpdir(), 'fxd-gauges-'))
  clock = createVirtualClock({ start: noon * 1_000 })
  stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  const around = (inner: Stores): Stores => ({ ...inner, board: failing(inner.board) })
  one = await openIngestFixture([push, hourly, monthly], { clock, stores, around })
  other = await openIngestFixture([push, hourly, monthly], { clock, stores, around })
})
afterEach(async () => {
  await one.remove()
  await other.remove()
  await stores.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The samples of a metric without its prefix, by feed. */
async function samples(ingest: IngestFixture, name: string): Promise<Record<string, number>> {
  const { text } = await ingest.metrics.render()
  const lines = text.matchAll(new RegExp(`^fxd_ingest_${name}\\{feed="(.*)"\\} (.*)$`, 'gm'))
  return Object.fromEntries([...lines].map(([, feed = '', value]) => [feed, Number(value)]))
}
const ofPush = async (ingest: IngestFixture, name: string): Promise<number | undefined> =>
  (await samples(ingest, name))[push.key]

async function collect(ingest: IngestFixture, id = 'outside'): Promise<RawSession> {
  const session = new RawSession(ingest.address)
  await session.hello(push.key, { id })
  return session
}

/** Lets every ingest read the feed board. */
const readBoard = (): Promise<void> => clock.advance(boardReadMs)

test('each feed has a number of sessions at each ingest, and 0 again once its collector is gone', async () => {
  const none = { [push.key]: 0, [hourly.key]: 0, [monthly.key]: 0 }
  expect(await samples(one, 'active_sessions')).toEqual(none)
  const session = await collect(one)
  await expect.poll(() => samples(one, 'active_sessions')).toEqual({ ...none, [push.key]: 1 })
  expect(await samples(other, 'active_sessions')).toEqual(none)
  session.stream.cancel()
  await expect.poll(() => samples(one, 'active_sessions')).toEqual(none)
})

test('neither a standby nor an import is an active session', async () => {
  const session = await collect(one)
  const standby = new RawSession(other.address)
  standby.send({ hello: { feed: push.key, collectorId: 'second', mode: 'SESSION_MODE_LIVE' } })
  await standby.find(({ welcome }) => welcome?.active === false)
  const beside = new RawSession(other.address)
  await beside.hello(push.key, { mode: 'IMPORT', id: 'import' })
  expect(await ofPush(other, 'active_sessions')).toBe(0)
  expect(await ofPush(one, 'active_sessions')).toBe(1)
  for (const each of [beside, standby, session]) each.stream.cancel()
})

test('every ingest has the age of the newest receipt, and it grows once the collector is gone', async () => {
  expect(await samples(one, 'bar_age_seconds')).toEqual({})
  const session = await collect(one)
  await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
  session.stream.cancel()
  await expect.poll(() => ofPush(one, 'active_sessions')).toBe(0)
  await clock.advance(1_790_000)
  await readBoard()
  for (const ingest of [one, other])
    await expect.poll(() => samples(ingest, 'bar_age_seconds')).toEqual({ [push.key]: 1_800 })
})

test('bars of the backfill lane have no age: only live bars show that a collector runs', async () => {
  const session = await collect(one)
  await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 60])])
  await readBoard()
  expect(await samples(one, 'bar_age_seconds')).toEqual({})
  session.stream.cancel()
})

test('without the feed board the ingest that receives the bars still has their age', async () => {
  const session = await collect(one)
  isBoardAvailable = false
  await session.bars('LIVE', [seriesAt('EURUSD', [noon - 60])])
  await readBoard()
  expect(await ofPush(one, 'bar_age_seconds')).toBe(10)
  expect(await ofPush(other, 'bar_age_seconds')).toBeUndefined()
  session.stream.cancel()
})

test('a symbol is without bars, then its history is read, then it is done, as the ingest of the active session counts', async () => {
  const counts = async (ingest: IngestFixture) => {
    const { text } = await ingest.metrics.render()
    const lines = text.matchAll(/^fxd_ingest_symbols\{feed="(.*)",history="(.*)"\} (.*)$/gm)
    return [...lines].map(([, feed, history, count]) => [feed, history, Number(count)].join(' '))
  }
  const of = (none: number, reading: number, done: number) => [
    `${push.key} none ${none}`,
    `${push.key} reading ${reading}`,
    `${push.key} done ${done}`,
  ]
  expect(await counts(one)).toEqual([])
  const session = await collect(one)
  expect(await counts(one)).toEqual(of(1, 0, 0))
  await session.bars('BACKFILL', [seriesAt('EURUSD', [noon - 60])])
  expect(await counts(one)).toEqual(of(0, 1, 0))
  await session.window('1', noon - 600, noon, 'EURUSD')
  await expect.poll(() => counts(one)).toEqual(of(0, 0, 1))
  expect(await counts(other)).toEqual([])
  session.stream.cancel()
  await expect.poll(() => counts(one)).toEqual([])
})

test('a removed feed has no samples', async () => {
  await applyFeeds(one.writer, [hourly, monthly])
  expect(Object.keys(await samples(one, 'active_sessions'))).toEqual([hourly.key, monthly.key])
})

test('the length of the shortest bars is known, except that of months', async () => {
  expect(await samples(one, 'finest_bar_seconds')).toEqual({ [push.key]: 60, [hourly.key]: 3_600 })
})

test('spooled bars are as the collector says; they are unknown when it does not say, and after its end', async () => {
  const session = await collect(one)
  const told = async () => [await ofPush(one, 'spooled_bars'), await ofPush(one, 'spool_age_seconds')]
  session.send({ heartbeat: { terminalConnected: true, spooledBars: 7, spoolAgeSeconds: 90 } })
  await expect.poll(told).toEqual([7, 90])
  session.send({ heartbeat: { terminalConnected: true, spooledBars: 0, spoolAgeSeconds: 0 } })
  await expect.poll(told).toEqual([0, 0])
  session.send({ heartbeat: { terminalConnected: true } })
  await expect.poll(told).toEqual([undefined, undefined])
  session.send({ heartbeat: { terminalConnected: true, spooledBars: 7, spoolAgeSeconds: 90 } })
  await expect.poll(told).toEqual([7, 90])
  session.stream.cancel()
  await expect.poll(told).toEqual([undefined, undefined])
})
