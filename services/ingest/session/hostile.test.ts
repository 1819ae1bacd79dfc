import { connect as connectHttp2, constants } from 'node:http2'
import { credentials, Metadata, type StatusObject, status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import { effort } from '../../../test/support/effort.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { toList } from '../../core/bars/bar.ts'
import { barFault } from '../../core/bars/bar-rules.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { Bars } from '../../wire/gen/fxd/v1/Bars.ts'
import type { CollectorMessage } from '../../wire/gen/fxd/v1/CollectorMessage.ts'
import { messageBytesMax, streamsPerConnectionMax } from '../../wire/limits.ts'
import { Collector } from '../../wire/load.ts'

const feed = defineFeed({
  symbols: { suffixes: ['.z'], list: [{ raw: 'EURUSD.z', type: 'forex', digits: 5 }] },
})
const defects = ['INTERNAL', 'UNKNOWN', 'DATA_LOSS']

// The test sends thousands of messages over hundreds of real connections.
vi.setConfig({ testTimeout: 60_000 * Math.max(1, effort) })

let fixture: IngestFixture
beforeAll(async () => {
  fixture = await openIngestFixture([feed])
})
afterAll(() => fixture.remove())

const minuteAgo = (count: number): number => Math.floor(fixture.clock.utcMs() / 60_000) * 60 - count * 60

/** Expects that a well-behaved collector is served as usual. */
async function expectService(): Promise<void> {
  const session = new RawSession(fixture.address)
  await session.hello(feed.key)
  const { ack, refused } = await session.bars('LIVE', [seriesAt('EURUSD', [minuteAgo(2)])])
  expect(refused).toEqual([])
  expect(ack.accepted + ack.revised + ack.unchanged).toBe(1)
  await session.close()
}

const text = fc.oneof(
  fc.constantFrom(
    '',
    'EURUSD',
    'EURUSD.z',
    '__proto__',
    'constructor',
    'toString',
    'a'.repeat(5_000),
    '🦆',
    '\u0000',
    'A:B',
    '../../..',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const integer = fc.oneof(
  fc.constantFrom(
    0,
    1,
    -1,
    60,
    2 ** 31,
    -(2 ** 31),
    2 ** 53,
    -(2 ** 53),
    '9223372036854775807',
    '-9223372036854775808',
  ),
  fc.integer({ min: -1_000, max: 1_000 }),
  fc.nat({ max: 2_000_000_000 }),
)
const unsigned = fc.constantFrom(0, 1, 5, 6, 10, 11, 255, 4_294_967_295)
const column = fc.array(integer, { maxLength: 8 })
const resolution = fc.oneof(fc.constantFrom('1', '5', '30', '60', '1D', '1M', '', '01'), text)
const sequence = fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constantFrom(2 ** 53, '18446744073709551615'))

const series = fc.oneof(
  fc.record({
    symbol: text,
    resolution,
    scale: unsigned,
    time: column,
    open: column,
    high: column,
    low: column,
    close: column,
    volume: column,
    revision: column,
  }),
  // Nearly valid, so that it passes many checks.
  fc
    .record({
      at: fc.integer({ min: -5, max: 50 }),
      spoilt: fc.constantFrom('time', 'open', 'low', 'volume', 'revision'),
      by: integer,
    })
    .map(({ at, spoilt, by }) => ({
      ...seriesAt('EURUSD', [minuteAgo(at), minuteAgo(at) + 60, minuteAgo(at) + 120]),
      [spoilt]: [by, 0, 1],
    })),
)
const bars: fc.Arbitrary<Bars> = fc.record({
  sequence,
  lane: fc.constantFrom('LANE_LIVE' as const, 'LANE_BACKFILL' as const, 'LANE_UNSPECIFIED' as const),
  series: fc.array(series, { maxLength: 4 }),
})
const symbol = fc.record({
  raw: text,
  name: text,
  display: text,
  description: text,
  type: fc.oneof(fc.constantFrom('forex', 'cfd'), text),
  digits: unsigned,
  session: fc.oneof(fc.constantFrom('', '24x5'), text),
  delaySeconds: unsigned,
})
const randomMessage: fc.Arbitrary<CollectorMessage> = fc.oneof(
  { weight: 6, arbitrary: bars.map((each) => ({ bars: each })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ sequence, symbol: text, resolution, from: integer, to: integer })
      .map((window) => ({ window })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        revision: sequence,
        snapshot: fc.boolean(),
        last: fc.boolean(),
        symbols: fc.array(symbol, { maxLength: 5 }),
        removed: fc.array(text, { maxLength: 3 }),
      })
      .map((catalogue) => ({ catalogue })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ terminalConnected: fc.boolean(), newestTick: integer, spooledBars: unsigned })
      .map((heartbeat) => ({ heartbeat })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ gap: { symbol: 'x', reason: 'y' } }, { clockSample: { newestTick: -1 } }),
  },
)

test('thousands of random messages neither end the process nor cause a defect status', async () => {
  let counter = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(randomMessage, { minLength: 10, maxLength: 40 }),
      fc.constantFrom('LIVE' as const, 'IMPORT' as const),
      async (messages, mode) => {
        const session = new RawSession(fixture.address)
        counter += 1
        await session.hello(feed.key, { mode, id: `random-${mode === 'LIVE' ? 'one' : counter}` })
        for (const message of messages) session.send(message)
        session.stream.end()
        expect(defects).not.toContain((await session.ended).code)
      },
    ),
    { numRuns: 120 },
  )
  await expectService()
  const stored = await fixture.stores.bars.read({
    series: { feed: feed.key, symbol: compoundKey(feed.key, 'EURUSD'), resolution: '1' },
    from: feedSeconds(0),
    to: feedSeconds(minuteAgo(-2)),
  })
  expect(toList(stored).filter((bar) => barFault(bar, '1'))).toEqual([])
})

test('invalid Hellos are refused with a sentence', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, text, unsigned, async (key, collectorId, terminal, mode) => {
      const session = new RawSession(fixture.address)
      session.send({ hello: { feed: key, collectorId, terminal, mode: mode as 0 } })
      const { code, details } = await session.ended
      expect(['INVALID_ARGUMENT', 'NOT_FOUND']).toContain(code)
      expect(details).not.toBe('')
    }),
    { numRuns: 50 },
  )
  await expectService()
})

/** Sends raw bytes, each as one message. Resolves with the status with which the stream ended. */
function sendBytes(messages: readonly Uint8Array[]): Promise<string> {
  const client = new Collector(fixture.address, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${testToken}`)
  const stream = client.makeBidiStreamRequest<Uint8Array, unknown>(
    Collector.service.Session.path,
    (bytes) => Buffer.from(bytes),
    (bytes) => bytes,
    metadata,
  )
  // The status has the same text.
  stream.on('error', () => undefined)
  stream.resume()
  for (const bytes of messages) stream.write(bytes)
  stream.end()
  return new Promise((resolve) => {
    stream.on('status', ({ code }: StatusObject) => {
      client.close()
      resolve(status[code] ?? '')
    })
  })
}

test('bytes that are no message of the protocol end the session with a sentence that says so', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 5 }),
      async (messages) => {
        expect([...defects, 'OK']).not.toContain(await sendBytes(messages))
      },
    ),
    { numRuns: 200 },
  )
  await expectService()
})

test('a status that quotes a lone surrogate is still sent', async () => {
  // A Hello whose feed is the bytes of a lone surrogate.
  const hello = [0x0a, 3, 0xed, 0xa0, 0x80, 0x12, 1, 0x61, 0x18, 1]
  expect(await sendBytes([Uint8Array.from([0x0a, hello.length, ...hello])])).toBe('NOT_FOUND')
  await expectService()
})

test('a message above 256 KiB ends only its own session', async () => {
  expect(await sendBytes([new Uint8Array(messageBytesMax + 1)])).toBe('RESOURCE_EXHAUSTED')
  await expectService()
})

test('invalid compressed bytes end only their own session', async () => {
  for (const encoding of ['gzip', 'deflate', 'identity', 'br']) {
    for (const body of [Buffer.alloc(0), Buffer.from('no such thing'), Buffer.alloc(70_000, 0x78)]) {
      const connection = connectHttp2(`http://${fixture.address}`)
      const stream = connection.request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: Collector.service.Session.path,
        'content-type': 'application/grpc+proto',
        te: 'trailers',
        'grpc-encoding': encoding,
        authorization: `Bearer ${testToken}`,
      })
      const ended = new Promise<string>((resolve) => {
        const onHeaders = (headers: Record<string, unknown>): void => {
          if (headers['grpc-status'] !== undefined) resolve(String(headers['grpc-status']))
        }
        stream.on('response', onHeaders)
        stream.on('trailers', onHeaders)
      })
      const head = Buffer.alloc(5)
      head.writeUInt8(1, 0)
      head.writeUInt32BE(body.length, 1)
      stream.end(Buffer.concat([head, body]))
      stream.resume()
      expect(await ended).not.toBe('0')
      connection.destroy()
    }
  }
  await expectService()
})

test('one connection has at most sixteen simultaneous calls', async () => {
  const connection = connectHttp2(`http://${fixture.address}`)
  const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) =>
    connection.once('remoteSettings', resolve),
  )
  expect(settings.maxConcurrentStreams).toBe(streamsPerConnectionMax)
  connection.destroy()
})

test('connections that are cut at any time leave no open session', async () => {
  const sessions = Array.from({ length: 40 }, (_, i) => {
    const session = new RawSession(fixture.address)
    session.send({
      hello: { feed: feed.key, collectorId: `cut-${i}`, mode: 'SESSION_MODE_IMPORT', terminal: '' },
    })
    if (i % 2 === 0) session.post('BACKFILL', [seriesAt('EURUSD', [minuteAgo(3)])])
    return session
  })
  // The server serves sixteen of the forty calls of one connection at a time.
  await sessions[5]?.next('known')
  for (const session of sessions) session.stream.cancel()
  await Promise.all(sessions.map(({ ended }) => ended))
  await expect
    .poll(async () => (await fixture.metrics.render()).text)
    .toContain('fxd_ingest_sessions{mode="import"} 0')
  await expectService()
})
