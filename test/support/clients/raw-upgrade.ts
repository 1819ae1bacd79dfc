import type { Socket } from 'node:net'
import type { StreamFixture } from '../fixtures/stream-fixture.ts'

/** The headers of a correct handshake. */
export const handshake = [
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
export const upgradeRequest = (
  target: string,
  headers: readonly string[] = handshake,
  method = 'GET',
): string => `${method} ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`

export interface Answer {
  readonly status: number
  readonly head: string
  readonly body: { readonly error: { readonly code: string; readonly message: string } }
}

/** Reads the answer until the server closes the connection. */
export async function readAnswer(socket: Socket): Promise<Answer> {
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return {
    status: Number(head.split(' ')[1]),
    head,
    body: JSON.parse(body || '{"error":{}}') as Answer['body'],
  }
}

export async function ask(fixture: StreamFixture, text: string): Promise<Answer> {
  const socket = await fixture.dial()
  socket.write(text)
  return readAnswer(socket)
}
