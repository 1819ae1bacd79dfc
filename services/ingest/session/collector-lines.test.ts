import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { createLog } from '../../platform/log/log.ts'

const symbols = { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] }
const feed = defineFeed({ symbols })
const many = 100
const long = 'x'.repeat(50_000)

interface Line {
  readonly msg: string
  readonly events?: number
}

const logged: string[] = []
const log = createLog('info', { write: (line: string) => void logged.push(line) })
let fixture: IngestFixture
beforeAll(async () => {
  fixture = await openIngestFixture([feed], { log })
})
afterAll(() => fixture.remove())
beforeEach(() => {
  logged.length = 0
})

/** The numbers of events in the lines with this text. */
const eventsOf = (text: string): number[] =>
  logged.flatMap((line) => {
    const { msg, events = 0 } = JSON.parse(line) as Line
    return msg.includes(text) ? [events] : []
  })
const alarms = (kind: string): Promise<number> => fixture.metrics.total('fxd_ingest_alarms_total', { kind })
const longest = (): number => Math.max(...logged.map(({ length }) => length))

test('gaps of one session have one line a minute, without long texts, and each raises the alarm', async () => {
  const before = await alarms('gap')
  const session = new RawSession(fixture.address)
  await session.hello(feed.key)
  const gap = { symbol: long, resolution: long, from: 0, to: 60, reason: long }
  for (let i = 0; i < many; i++) session.send({ gap })
  await session.close()
  expect(eventsOf('lost history')).toEqual([1, many - 1])
  expect((await alarms('gap')) - before).toBe(many)
  expect(longest()).toBeLessThan(1_000)
})

test('wrong sequences of one session have one line a minute, and each is refused and raises the alarm', async () => {
  const before = await alarms('sequence')
  const session = new RawSession(fixture.address)
  await session.hello(feed.key)
  const series = [seriesAt('EURUSD', [0])]
  for (let i = 0; i < many; i++) session.send({ bars: { sequence: i + 2, lane: 'LANE_LIVE', series } })
  await session.close()
  expect(session.received.filter(({ refused }) => refused)).toHaveLength(many)
  expect(eventsOf('wrong sequence')).toEqual([1, many - 1])
  expect((await alarms('sequence')) - before).toBe(many)
})

test('a series with more than 100 separate windows, and windows that are rejected, have one line a minute', async () => {
  const session = new RawSession(fixture.address)
  await session.hello(feed.key)
  const start = Math.floor(Date.now() / 60_000) * 60 - 100_000
  for (let i = 0; i < 100; i++) await session.window('1', start + i * 120, start + i * 120 + 60, 'EURUSD')
  expect(eventsOf('separate windows')).toEqual([])
  for (let i = 100; i < 103; i++) await session.window('1', start + i * 120, start + i * 120 + 60, 'EURUSD')
  for (let i = 0; i < many; i++) await session.window('1', 120, 60, 'EURUSD')
  await session.close()
  expect(eventsOf('separate windows')).toEqual([1, 2])
  const line = logged.find((text) => text.includes('separate windows')) ?? ''
  expect(JSON.parse(line)).toMatchObject({ series: `${feed.key}:EURUSD`, resolution: '1', windows: 101 })
  expect(eventsOf('window rejected')).toEqual([1, many - 1])
})

test('messages before the first Catalogued have one line a minute', async () => {
  const session = new RawSession(fixture.address)
  await session.hello(feed.key, { isCatalogued: false })
  for (let i = 0; i < many; i++) session.send({ window: { sequence: 1, resolution: '1', from: 60, to: 120 } })
  await session.close()
  expect(eventsOf('before Catalogued')).toEqual([1, many - 1])
})

test('catalogues of one session have one line a minute, without long names', async () => {
  const session = new RawSession(fixture.address)
  await session.hello(feed.key, { isCatalogued: false })
  for (let i = 0; i < many; i++)
    await session.catalogue([{ raw: `${i}${long}`, digits: 5 }], { snapshot: false })
  await session.close()
  expect(eventsOf('catalogue symbols rejected')).toEqual([1, many - 1])
  expect(eventsOf('catalogue accepted')).toEqual([1, many - 1])
  expect(longest()).toBeLessThan(1_000)
})

test('while leases are unavailable, sessions that fail for it have one line a minute for each feed', async () => {
  const clock = createVirtualClock()
  const other = defineFeed({ account: 'OTHER', symbols })
  let requests = 0
  const failing = await openIngestFixture([feed, other], {
    clock,
    log,
    around: (stores) => ({
      ...stores,
      leases: {
        ...stores.leases,
        acquire() {
          requests += 1
          return Promise.reject(new Unavailable('lease store'))
        },
      },
    }),
  })
  onTestFinished(() => failing.remove())
  const fail = async (of = feed): Promise<void> => {
    const session = new RawSession(failing.address)
    const before = requests
    session.hello(of.key).catch(() => undefined)
    await expect.poll(() => requests).toBe(before + 1)
    await clock.advance(5_000)
    expect((await session.ended).code).toBe('UNAVAILABLE')
  }
  const lines = () =>
    logged.flatMap((line) => (line.includes('ended with UNAVAILABLE') ? [JSON.parse(line) as Line] : []))
  for (let i = 0; i < 4; i++) await fail()
  expect(lines()).toMatchObject([{ feed: feed.key, events: 1 }])
  await fail(other)
  expect(lines().slice(1)).toMatchObject([{ feed: other.key, events: 1 }])
  await clock.advance(60_000)
  await fail()
  expect(lines().slice(2)).toMatchObject([{ feed: feed.key, events: 4 }])
})
