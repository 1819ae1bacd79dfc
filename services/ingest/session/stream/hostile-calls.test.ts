import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { gunzipSync, gzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RawCall, rawCall } from '../../../../test/support/clients/raw-call.ts'
import { RawSession, seriesAt } from '../../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
} from '../../../../test/support/fixtures/ingest-fixture.ts'
import { idleMs, messageBytesMax } from '../../../wire/limits.ts'
import { Collector, Registry } from '../../../wire/load.ts'

const feed = defineFeed({ symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] } })
const path = Collector.service.Session.path
const mebibyte = 1024 * 1024

let fixture: IngestFixture
/** A well-behaved collector that works during all tests of this file. */
let beside: RawSession
beforeAll(async () => {
  fixture = await openIngestFixture([feed])
  beside = new RawSession(fixture.address)
  await beside.hello(feed.key)
})
afterAll(async () => {
  await beside.close()
  await fixture.remove()
})

const minuteAgo = (count: number): number => Math.floor(fixture.clock.utcMs() / 60_000) * 60 - count * 60
const ended = (code: keyof typeof status): Promise<number> =>
  fixture.metrics.total('fxd_ingest_calls_total', { code })

/** Compressed zeros of `count` mebibytes: a gzip file may be several gzip files in sequence. */
function zerosCompressed(count: number): Buffer {
  const one = gzipSync(Buffer.alloc(mebibyte), { level: 9 })
  return Buffer.concat(Array.from({ length: count }, () => one))
}

interface Case {
  readonly code: keyof typeof status
  readonly call: Omit<RawCall, 'path'> & { readonly path?: string }
}

const bomb = zerosCompressed(1024)
const largestBomb = zerosCompressed(240)

const gzip = { 'grpc-encoding': 'gzip' }
const cases: Readonly<Record<string, Case>> = {
  'a message with a length above 256 KiB in its header': {
    code: 'RESOURCE_EXHAUSTED',
    call: { body: Buffer.alloc(100), length: messageBytesMax + 1 },
  },
  'a message with a length of 4 GiB in its header': {
    code: 'RESOURCE_EXHAUSTED',
    call: { body: Buffer.alloc(10), length: 0xffffffff },
  },
  'bytes that are not a message': {
    code: 'INVALID_ARGUMENT',
    call: { body: Buffer.from('no such thing as a message') },
  },
  'a compressed gibibyte of zeros': {
    code: 'RESOURCE_EXHAUSTED',
    call: { body: bomb, compressed: true, headers: gzip },
  },
  'as many compressed zeros as fit into 256 KiB': {
    code: 'UNIMPLEMENTED',
    call: { body: largestBomb, compressed: true, headers: gzip },
  },
  'a compressed gibibyte in a call of administration': {
    code: 'UNIMPLEMENTED',
    call: { path: Registry.service.ListKeys.path, body: largestBomb, compressed: true, headers: gzip },
  },
  'what does not decompress': {
    code: 'UNIMPLEMENTED',
    call: { body: Buffer.from('no gzip at all'), compressed: true, headers: gzip },
  },
  'truncated compressed bytes': {
    code: 'UNIMPLEMENTED',
    call: { body: gzipSync(Buffer.alloc(9_000, 'x')).subarray(0, 20), compressed: true, headers: gzip },
  },
  'a short compressed message': {
    code: 'UNIMPLEMENTED',
    call: { body: gzipSync(Buffer.alloc(messageBytesMax)), compressed: true, headers: gzip },
  },
  'an unknown encoding': {
    code: 'UNIMPLEMENTED',
    call: { body: Buffer.from('x'), compressed: true, headers: { 'grpc-encoding': 'br' } },
  },
  'an unknown method': { code: 'UNIMPLEMENTED', call: { path: '/fxd.v1.Collector/Everything' } },
  'an unknown service': { code: 'UNIMPLEMENTED', call: { path: '/fxd.v1.Shard/Drain' } },
  'a deadline that is none': {
    code: 'INTERNAL',
    call: { headers: { 'grpc-timeout': 'soon' } },
  },
  'no credential': { code: 'UNAUTHENTICATED', call: { headers: { authorization: '' } } },
}

describe('a call with', () => {
  let before: { sessions: string; heap: number }
  const sessions = async (): Promise<string> =>
    /fxd_ingest_sessions\{mode="live"\} \d+/.exec((await fixture.metrics.render()).text)?.[0] ?? ''
  beforeEach(async () => {
    before = { sessions: await sessions(), heap: process.memoryUsage.rss() }
  })

  test.each(Object.entries(cases))(
    '%s is refused and counted, and other sessions are served',
    async (_what, { code, call }) => {
      const count = await ended(code)
      const end = await rawCall(fixture.address, { path, ...call })
      expect(end.status).toBe(String(status[code]))
      expect(end.message).not.toBe('')
      await expect.poll(() => ended(code)).toBe(count + 1)

      const { ack, refused } = await beside.bars('LIVE', [seriesAt('EURUSD', [minuteAgo(2)])])
      expect(refused).toEqual([])
      expect(ack.accepted + ack.revised + ack.unchanged).toBe(1)
      await expect.poll(sessions).toBe(before.sessions)
      expect(process.memoryUsage.rss() - before.heap).toBeLessThan(128 * mebibyte)
    },
  )
})

test('the compressed messages have the sizes that their names state', () => {
  expect(largestBomb.length).toBeLessThan(messageBytesMax)
  expect(gunzipSync(largestBomb.subarray(0, largestBomb.length / 240)).length).toBe(mebibyte)
})

test('a request that is not gRPC is refused with an HTTP status', async () => {
  const count = await ended('UNKNOWN')
  const end = await rawCall(fixture.address, { path, headers: { 'content-type': 'text/html' } })
  expect(end.http).toBe(415)
  await expect.poll(() => ended('UNKNOWN')).toBe(count + 1)
})

test('a repeated sequence with another body is refused and raises an alarm; with the same body it is acked again', async () => {
  const conflicts = (): Promise<number> =>
    fixture.metrics.total('fxd_ingest_alarms_total', { kind: 'sequence' })
  const before = await conflicts()
  const session = new RawSession(fixture.address)
  await session.hello(feed.key, { mode: 'IMPORT', id: 'replay' })
  const at = minuteAgo(9)
  const batch = (close: number, revision = 1_000_000_000_000) => ({
    bars: {
      sequence: 1,
      lane: 'LANE_BACKFILL' as const,
      series: [seriesAt('EURUSD', [at], { close, revision })],
    },
  })
  session.send(batch(1.1))
  const { ack } = await session.answer(1)
  expect(ack).toMatchObject({ accepted: 1 })
  session.send(batch(1.1))
  const acks = () => session.received.flatMap((each) => (each.ack?.sequence === 1 ? [each.ack] : []))
  await expect.poll(acks).toEqual([ack, ack])
  expect(await conflicts()).toBe(before)
  session.send(batch(1.2))
  await session.find(({ refused }) => refused?.sequence === 1)
  expect(session.refused(1)).toMatchObject([{ reason: 'REFUSAL_REASON_SEQUENCE' }])
  expect(await conflicts()).toBe(before + 1)
  session.send({ bars: { ...batch(1.2, 1_000_000_000_001).bars, sequence: 2 } })
  expect((await session.answer(2)).ack).toMatchObject({ revised: 1 })
  await session.close()
})

test(
  'a connection that answers pings and makes no call is closed',
  async () => {
    const connection = connectHttp2(`http://${fixture.address}`)
    await once(connection, 'connect')
    const begun = performance.now()
    await once(connection, 'close')
    expect(performance.now() - begun).toBeGreaterThan(idleMs - 1_000)
  },
  3 * idleMs,
)
