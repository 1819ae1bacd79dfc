import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { Fxd } from './fxd.ts'

/** A server that sends these frames on each socket, then closes it with a code after which no client returns. */
const serve = async (frames: readonly object[]): Promise<string> => {
  const http = createServer((_, response) => response.end('{"feeds":{}}'))
  const sockets = new WebSocketServer({ server: http })
  sockets.on('connection', (socket) => {
    for (const frame of frames) socket.send(JSON.stringify(frame))
    socket.close(4500, 'ended')
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

test.each([
  ['no frame', [], 'CLOSED'],
  ['a GAP', [{ type: 'error', code: 'GAP', message: '', gaps: [] }], 'CLOSED'],
  ['an error that names it', [{ type: 'error', code: 'KEY_EXPIRED', message: '' }], 'KEY_EXPIRED'],
])('a close with 4500 after %s ends the iterator with the right code', async (_, frames, code) => {
  const fxd = new Fxd({ url: await serve(frames), key: 'fxd_x' })
  await expect(fxd.bars('A:B:C').next()).rejects.toMatchObject({
    code,
    closeCode: 4500,
    closeReason: 'ended',
  })
})
