import { type StatusObject, status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import { effort } from '../../../test/support/effort.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createLog } from '../../platform/log/log.ts'
import { callMetadata, channelCredentials } from '../../wire/client.ts'
import type { CollectorMessage } from '../../wire/gen/fxd/v1/CollectorMessage.ts'
import { Registry } from '../../wire/load.ts'
import { SessionWork } from './work/session-work.ts'

const feed = defineFeed({ symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] } })
const logged: string[] = []

let fixture: IngestFixture
/** A well-behaved collector that works during all tests of this file. */
let beside: RawSession
let administration: InstanceType<typeof Registry>
beforeAll(async () => {
  fixture = await openIngestFixture([feed], {
    log: createLog('debug', { write: (line: string) => void logged.push(line) }),
  })
  beside = new RawSession(fixture.address)
  await beside.hello(feed.key)
  administration = new Registry(fixture.address, channelCredentials({ token: testToken }))
})
afterAll(async () => {
  administration.close()
  await beside.close()
  await fixture.remove()
})

const minuteAgo = (count: number): number => Math.floor(fixture.clock.utcMs() / 60_000) * 60 - count * 60
async function expectOthersServed(): Promise<void> {
  const { ack } = await beside.bars('LIVE', [seriesAt('EURUSD', [minuteAgo(2)])])
  expect(ack.accepted + ack.revised + ack.unchanged).toBe(1)
}

/** Nested JSON up to 64 KiB, control characters, a lone surrogate, property names of JavaScript objects. */
const strange = fc.oneof(
  fc.integer({ min: 1, max: 32_768 }).map((levels) => '['.repeat(levels) + ']'.repeat(levels)),
  fc.integer({ min: 1, max: 10_000 }).map((levels) => `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    '\ud800'.repeat(500),
    '__proto__',
    'constructor',
    'BROKERA:ZERO:__proto__',
  ),
)

const hello = { feed: feed.key, collectorId: 'strange', terminal: '', mode: 'SESSION_MODE_IMPORT' } as const
const symbol = { raw: 'X', name: '', display: '', description: '', type: 'forex', digits: 5, session: '' }
const catalogue = { revision: 1, snapshot: false, last: true, symbols: [], removed: [] }
const window = { sequence: 1, symbol: '', resolution: '1', from: 0, to: 60 }

/** Every text field that a collector may send. */
const texts: Readonly<Record<string, (text: string) => CollectorMessage>> = {
  'Hello.feed': (text) => ({ hello: { ...hello, feed: text } }),
  'Hello.collector_id': (text) => ({ hello: { ...hello, collectorId: text } }),
  'Hello.terminal': (text) => ({ hello: { ...hello, terminal: text } }),
  'Catalogue.removed': (text) => ({ catalogue: { ...catalogue, removed: [text] } }),
  ...Object.fromEntries(
    (['raw', 'name', 'display', 'description', 'type', 'session'] as const).map((field) => [
      `CatalogueSymbol.${field}`,
      (text: string) => ({ catalogue: { ...catalogue, symbols: [{ ...symbol, [field]: text }] } }),
    ]),
  ),
  'SeriesBars.symbol': (text) => ({
    bars: {
      sequence: 1,
      lane: 'LANE_BACKFILL',
      series: [{ ...seriesAt('X', [minuteAgo(9)]), symbol: text }],
    },
  }),
  'SeriesBars.resolution': (text) => ({
    bars: {
      sequence: 1,
      lane: 'LANE_BACKFILL',
      series: [{ ...seriesAt('X', [minuteAgo(9)]), resolution: text }],
    },
  }),
  'Window.symbol': (text) => ({ window: { ...window, symbol: text } }),
  'Window.resolution': (text) => ({ window: { ...window, resolution: text } }),
  'Gap.symbol': (text) => ({ gap: { symbol: text, resolution: '1', from: 0, to: 1, reason: '' } }),
  'Gap.resolution': (text) => ({ gap: { symbol: '', resolution: text, from: 0, to: 1, reason: '' } }),
  'Gap.reason': (text) => ({ gap: { symbol: '', resolution: '1', from: 0, to: 1, reason: text } }),
}

describe('strange text of a collector', () => {
  test.each(Object.entries(texts))('in %s ends at most its own session', async (_field, message) => {
    await fc.assert(
      fc.asyncProperty(strange, async (text) => {
        const session = new RawSession(fixture.address)
        const sent = message(text)
        if (!sent.hello) await session.hello(feed.key, { mode: 'IMPORT', id: 'strange' })
        session.send(sent)
        session.stream.end()
        const { code, details } = await session.ended
        expect(code).not.toBe('INTERNAL')
        expect(details.length).toBeLessThanOrEqual(1_024)
      }),
      { numRuns: Math.ceil(8 * effort), examples: [['['.repeat(32_768) + ']'.repeat(32_768)]] },
    )
    await expectOthersServed()
  })
})

const requests: Readonly<Record<string, readonly ((text: string) => object)[]>> = {
  CreateKey: [
    (name) => ({ name, plan: 'pro', feeds: [feed.key] }),
    (plan) => ({ plan, feeds: [feed.key] }),
    (key) => ({ plan: 'pro', feeds: [key] }),
    (address) => ({ plan: 'pro', feeds: [feed.key], allowIps: [address] }),
    (expires) => ({ plan: 'pro', feeds: [feed.key], expires }),
  ],
  ListKeys: [(after) => ({ after })],
  GetKey: [(id) => ({ id })],
  UpdateKey: [(id) => ({ id, name: 'x' })],
  RotateKey: [(id) => ({ id, overlapMs: 0 })],
  RevokeKey: [(id) => ({ id })],
  ListFeeds: [(after) => ({ after })],
  GetFeed: [(key) => ({ key }), (afterSymbol) => ({ key: feed.key, afterSymbol })],
  PurgeFeed: [(key) => ({ key })],
  RemoveSymbol: [(key) => ({ feed: key, symbol: 'X' }), (name) => ({ feed: feed.key, symbol: name })],
  IssueFeedToken: [(key) => ({ feeds: [key] }), (expires) => ({ feeds: [feed.key], expires })],
}

function call(name: string, request: object): Promise<StatusObject> {
  const method = Registry.service[name]
  if (!method) throw new Error(`the Registry has no method ${name}`)
  return new Promise((resolve) => {
    administration
      .makeUnaryRequest(
        method.path,
        method.requestSerialize as (value: object) => Buffer,
        method.responseDeserialize as (bytes: Buffer) => object,
        request,
        callMetadata({ token: testToken }),
        () => undefined,
      )
      .on('status', resolve)
  })
}

describe('strange text of administration', () => {
  test.each(Object.entries(requests))(
    'in %s is refused or accepted, and never causes a defect',
    async (name, made) => {
      await fc.assert(
        fc.asyncProperty(strange, async (text) => {
          for (const request of made) {
            const { code, details } = await call(name, request(text))
            expect([status.INTERNAL, status.UNKNOWN], details).not.toContain(code)
            expect(details.length).toBeLessThanOrEqual(1_024)
          }
        }),
        { numRuns: Math.ceil(5 * effort), examples: [['['.repeat(32_768) + ']'.repeat(32_768)]] },
      )
      await expectOthersServed()
    },
  )
})

describe('a defect', () => {
  const defect = (): never => {
    throw new RangeError('internal text')
  }

  /** Its text may quote a client. */
  const expectOnlyPlace = (text: string): void => {
    const line = logged.find((each) => each.includes(text))
    expect(JSON.parse(line ?? '')).toMatchObject({
      fault: 'RangeError',
      at: expect.stringContaining('at ') as string,
    })
    expect(line).not.toContain('internal text')
  }

  const counted = (): Promise<number> => fixture.metrics.total('fxd_ingest_calls_total', { code: 'INTERNAL' })

  test('in the listener of a session ends only that session, with INTERNAL, and is counted', async () => {
    const before = await counted()
    const session = new RawSession(fixture.address)
    await session.hello(feed.key, { mode: 'IMPORT', id: 'broken' })
    const broken = vi.spyOn(SessionWork.prototype, 'isFull', 'get').mockImplementationOnce(defect)
    session.send({ heartbeat: {} })
    expect(await session.ended).toEqual({ code: 'INTERNAL', details: 'the service failed' })
    broken.mockRestore()
    expectOnlyPlace('session failed through a defect')
    await expect.poll(counted).toBe(before + 1)
    await expectOthersServed()
  })

  test('at the end of a session does not keep the session open', async () => {
    const session = new RawSession(fixture.address)
    await session.hello(feed.key, { mode: 'IMPORT', id: 'broken' })
    const broken = vi.spyOn(SessionWork.prototype, 'dropped').mockImplementationOnce(defect)
    session.stream.end()
    expect(await session.ended).toMatchObject({ code: 'INTERNAL' })
    broken.mockRestore()
    expectOnlyPlace('failed to end a session')
    await expectOthersServed()
  })

  test('in a call of administration ends only that call, with INTERNAL', async () => {
    const broken = vi.spyOn(fixture.stores.bars, 'lastTimes').mockImplementationOnce(defect)
    expect((await call('GetFeed', { key: feed.key })).code).toBe(status.INTERNAL)
    broken.mockRestore()
    expectOnlyPlace('Registry call failed through a defect')
    await expectOthersServed()
  })
})
