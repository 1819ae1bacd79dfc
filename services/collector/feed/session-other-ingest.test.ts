import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RawSession } from '../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { FakeTerminal, fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { silentLog } from '../../platform/log/log.ts'
import type { Stores } from '../../ports/stores.ts'
import { openEmbeddedStores } from '../../stores/embedded/open.ts'
import { runCollector } from '../collector.ts'

const feed = defineFeed({
  depth: { '1': '1h' },
  resolutions: ['1'],
  symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] },
})
const start = Date.UTC(2026, 0, 5, 12)
const noon = start / 1000
const patience = { timeout: 30_000 }

let clock: VirtualClock
let folder: string
let stores: Stores
/** One ingest that alone loses Redis, and one that does not. */
let cutOff: IngestFixture
let healthy: IngestFixture
let isCut: boolean
let source: FakeTerminal
let stop: AbortController
let running: Promise<void>
beforeEach(async () => {
  isCut = false
  clock = createVirtualClock({ start })
  folder = mkdtempSync(join(tmpdir(), 'fxd-ingests-'))
  stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  cutOff = await openIngestFixture([feed], { clock, stores, around: withoutRedis })
  healthy = await openIngestFixture([feed], { clock, stores })
  source = new FakeTerminal([fakeSymbol('EURUSD')], () => Math.floor(clock.utcMs() / 1000))
  stop = new AbortController()
  running = Promise.resolve()
})
afterEach(async () => {
  stop.abort()
  await Promise.all([running, clock.advance(10_000)])
  await Promise.all([cutOff.remove(), healthy.remove()])
  await stores.close()
  rmSync(folder, { recursive: true })
})

/** Wraps the stores that are in Redis: they fail while `isCut`. */
function withoutRedis(all: Stores): Stores {
  const unlessCut = <P extends object>(port: P): P =>
    new Proxy(port, {
      get: (of, name) => {
        const call = Reflect.get(of, name) as (...args: unknown[]) => unknown
        return (...args: unknown[]) =>
          isCut && name !== 'follow'
            ? Promise.reject(new Error('Redis is unavailable'))
            : call.apply(of, args)
      },
    })
  return { ...all, leases: unlessCut(all.leases), bus: unlessCut(all.bus), board: unlessCut(all.board) }
}

/** Starts a collector that tries the cut-off ingest and the healthy one in alternation. */
function collect(): { readonly dialled: string[] } {
  const dialled: string[] = []
  const address = (): string => {
    dialled.push(dialled.length % 2 === 0 ? cutOff.address : healthy.address)
    return dialled.at(-1) as string
  }
  const identity = () => ({ token: testToken })
  const shared = { clock, log: silentLog, signal: stop.signal, identity, address }
  running = runCollector({ ...shared, definition: feed, source })
  return { dialled }
}

/** Advances time in short steps until the condition is true; returns the milliseconds that passed. */
async function until(is: () => boolean | Promise<boolean>): Promise<number> {
  const begunMs = clock.monotonicMs()
  const step = async (): Promise<boolean> => {
    await clock.advance(20)
    return is()
  }
  await expect.poll(step, { ...patience, interval: 1 }).toBe(true)
  return clock.monotonicMs() - begunMs
}

const isCovered = async (): Promise<boolean> =>
  (await stores.windows.of(feed.key)).some(({ from }) => from <= noon - 3_600)

const pushed = (): number[] =>
  healthy.events.flatMap(({ event }) => (event.type === 'bars' ? event.bars.map(({ bar }) => bar.time) : []))

test('a collector that reaches an ingest without Redis is refused and collects through the next ingest', async () => {
  isCut = true
  const { dialled } = collect()
  const tookMs = await until(() => dialled.length === 2)
  expect(tookMs).toBeLessThan(10_000)
  await until(isCovered)
  expect(dialled).toEqual([cutOff.address, healthy.address])
  const ended = { code: 'UNAVAILABLE' }
  expect(await cutOff.metrics.total('fxd_ingest_sessions_ended_total', ended)).toBe(1)
  await clock.advance(60_000 - (clock.utcMs() % 60_000))
  source.closeMinute()
  await expect.poll(pushed, patience).toContain(noon)
}, 60_000)

test('a standby at an ingest that loses Redis takes over through another ingest', async () => {
  const active = new RawSession(healthy.address)
  await active.hello(feed.key, { id: 'active' })
  const { dialled } = collect()
  await until(() => cutOff.metrics.total('fxd_ingest_sessions', { mode: 'live' }).then((n) => n === 1))
  isCut = true
  await until(() => healthy.metrics.total('fxd_ingest_sessions', { mode: 'live' }).then((n) => n === 2))
  expect(dialled).toEqual([cutOff.address, healthy.address])
  await active.close()
  await until(async () => (await stores.windows.of(feed.key)).length > 0)
  expect(dialled).toHaveLength(2)
}, 60_000)

test('an active session continues through an outage of Redis', async () => {
  const { dialled } = collect()
  await until(isCovered)
  const accepted = (): Promise<number> => {
    return cutOff.metrics.total('fxd_ingest_bars_total', { lane: 'live', outcome: 'accepted' })
  }
  const before = await accepted()
  isCut = true
  await clock.advance(60_000 - (clock.utcMs() % 60_000))
  source.closeMinute()
  await until(async () => (await accepted()) > before)
  await clock.advance(120_000)
  expect(pushed()).not.toContain(noon)
  isCut = false
  await until(() => pushed().includes(noon))
  expect(dialled).toEqual([cutOff.address])
}, 60_000)
