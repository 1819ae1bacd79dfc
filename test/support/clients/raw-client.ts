import type { Socket } from 'node:net'
import type { StreamFixture } from '../fixtures/stream-fixture.ts'

export interface RawClient {
  readonly socket: Socket
  /** Resolves with the code of the server's close frame; rejects if the connection ends without one. */
  readonly goodbye: Promise<number>
}

/** Opens a client that can send malformed frames. */
export async function openRawClient(fixture: StreamFixture, key: string): Promise<RawClient> {
  const socket = await fixture.dial()
  socket.write(
    `GET /v1/stream?api_key=${key} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  let seen = Buffer.alloc(0)
  const connected = Promise.withResolvers<void>()
  const goodbye = Promise.withResolvers<number>()
  goodbye.promise.catch(() => undefined)
  socket.on('data', (part) => {
    seen = Buffer.concat([seen, part])
    if (seen.includes('"connected"')) connected.resolve()
    const code = closeCode(seen)
    if (code !== undefined) goodbye.resolve(code)
  })
  socket.on('close', () => goodbye.reject(new Error('closed without a close frame')))
  await connected.promise
  return { socket, goodbye: goodbye.promise }
}

/** The code in the close frame of the server, once it has arrived. */
function closeCode(bytes: Buffer): number | undefined {
  let at = bytes.indexOf('\r\n\r\n') + 4
  while (at + 2 <= bytes.length) {
    const opcode = (bytes[at] ?? 0) & 15
    const short = bytes[at + 1] ?? 0
    if (opcode === 8) return short === 0 ? 1005 : bytes.readUInt16BE(at + 2)
    const wide = short === 126 ? 2 : 0
    at += 2 + wide + (wide ? bytes.readUInt16BE(at + 2) : short)
  }
  return undefined
}

/** A client frame with a mask of zeroes; `length` may differ from the real length. */
export function clientFrame(
  payload: Buffer | string,
  { opcode = 1, fin = true, length = -1, masked = true } = {},
): Buffer {
  const bytes = Buffer.from(payload)
  const statedLength = length < 0 ? bytes.length : length
  const mask = masked ? 0x80 : 0
  const wide = Buffer.alloc(8)
  wide.writeBigUInt64BE(BigInt(statedLength))
  const size =
    statedLength < 126
      ? [mask | statedLength]
      : statedLength < 65_536
        ? [mask | 126, ...wide.subarray(6)]
        : [mask | 127, ...wide]
  return Buffer.concat([
    Buffer.from([(fin ? 0x80 : 0) | opcode, ...size, ...(masked ? [0, 0, 0, 0] : [])]),
    bytes,
  ])
}
