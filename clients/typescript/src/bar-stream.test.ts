import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { Fxd } from './fxd.ts'

/** Starts a server that sends these frames on each socket, then closes it. After the default close code a client must not connect again. */
const serve = async (frames: readonly object[], codes: number[] = []): Promise<string> => {
  const http = createServer((_, response) => response.end('{"feeds":{}}'))
  const sockets = new WebSocketServer({ server: http })
  sockets.on('connection', (socket) => {
    for (const frame of frames) socket.send(JSON.stringify(frame))
    socket.close(codes.shift() ?? 4500, 'ended')
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

test('after a retry the logger is told that the client is connected again, and at first it is not', async () => {
  const frame = { type: 'connected', limits: { max_symbols: 1 } }
  const url = await serve([frame], [1012])
  const lines: (readonly [message: string, fields: object])[] = []
  const logger = { info: (...line: [string, object]) => void lines.push(line) }
  await expect(new Fxd({ url, key: 'fxd_x', logger }).bars('A:B:C').next()).rejects.toThrow('4500')
  expect(lines).toEqual([
    ['socket ended; retrying', { code: 1012, reason: 'ended', retryInMs: expect.any(Number) as unknown }],
    ['connected again', { url: url.replace('http', 'ws') }],
  ])
})

test('a client that began while the service was unavailable tells the logger when it is connected', async () => {
  const url = await serve([{ type: 'connected', limits: { max_symbols: 1 } }])
  const answer = vi.spyOn(globalThis, 'fetch').mockRejectedValueOnce(new Error('refused'))
  onTestFinished(() => answer.mockRestore())
  const lines: string[] = []
  const logger = { info: (message: string) => void lines.push(message) }
  await expect(new Fxd({ url, key: 'fxd_x', logger }).bars('A:B:C').next()).rejects.toThrow('4500')
  expect(lines).toEqual(['request failed; retrying', 'connected again'])
})
