import { connect as connectHttp2, constants } from 'node:http2'
import { credentials, Metadata, type StatusObject, status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defects, HostileFixture } from '../../../../test/support/fixtures/hostile-fixture.ts'
import { testToken } from '../../../../test/support/fixtures/ingest-fixture.ts'
import { messageBytesMax } from '../../../wire/limits.ts'
import { Collector } from '../../../wire/load.ts'

const suite = new HostileFixture()

/** Sends raw bytes, each as one message. Resolves with the status with which the stream ended. */
function sendBytes(messages: readonly Uint8Array[]): Promise<string> {
  const client = new Collector(suite.ingest.address, credentials.createInsecure())
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
  await suite.expectService()
})

test('a status that quotes a lone surrogate is still sent', async () => {
  // A Hello whose feed is the bytes of a lone surrogate.
  const hello = [0x0a, 3, 0xed, 0xa0, 0x80, 0x12, 1, 0x61, 0x18, 1]
  expect(await sendBytes([Uint8Array.from([0x0a, hello.length, ...hello])])).toBe('NOT_FOUND')
  await suite.expectService()
})

test('a message above 256 KiB ends only its own session', async () => {
  expect(await sendBytes([new Uint8Array(messageBytesMax + 1)])).toBe('RESOURCE_EXHAUSTED')
  await suite.expectService()
})

test('invalid compressed bytes end only their own session', async () => {
  for (const encoding of ['gzip', 'deflate', 'identity', 'br']) {
    for (const body of [Buffer.alloc(0), Buffer.from('no such thing'), Buffer.alloc(70_000, 0x78)]) {
      const connection = connectHttp2(`http://${suite.ingest.address}`)
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
  await suite.expectService()
})
