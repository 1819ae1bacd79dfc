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
import { silentLog } from '../../platform/log/log.ts'
import type { Stores } from '../../ports/stores.ts'
import { applyFeeds } from '../../registry/apply-feeds.ts'
import { openEmbeddedStores } from '../../stores/embedded/open.ts'
import { registryClient } from '../../wire/unary-client.ts'

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
const full = (): Promise<never> => Promise.reject(new Unavailable('the full disk'))
const around = (inner: Stores): Stores => ({
  ...inner,
  bars: {
    ...inner.bars,
    write: (batch, lane) => otherWrite(() => inner.bars.write(batch, lane)),
  },
})
beforeEach(async () => {
  otherWrite = (write) => write()
  clock = createVirtualClock({ start })
  folder = mkdtempSync(join(tmpdir(), 'fxd-ingests-'))
  stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  one = await openIngestFixture([feed], { clock, stores })
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

/** Removes and purges the feed at the one ingest, and defines it again. */
async function beginAgain(): Promise<void> {
  await applyFeeds(one.writer, [])
  await other.registry.refresh()
  const client = registryClient(one.address, { token: testToken })
  await client.call('PurgeFeed', { key: feed.key })
  client.close()
  await applyFeeds(one.writer, [feed])
  await other.registry.refresh()
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

test('when one ingest hides a feed, its sessions at the other end, silent ones too', async () => {
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
