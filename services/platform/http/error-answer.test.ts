import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { answerError, type ErrorAnswer, endWithError } from './error-answer.ts'

/** Status line, headers without the date, and body of the answer to a request with and without an upgrade. */
async function answers(answer: ErrorAnswer): Promise<[response: string[], socket: string[]]> {
  const server = createServer((_, response) => answerError(response, answer))
  server.on('upgrade', (_, socket) => endWithError(socket, answer))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const ask = async (headers: string): Promise<string[]> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)
    const lines = (await text(socket)).split('\r\n')
    return lines.filter((line) => line !== '' && !line.startsWith('Date: ')).sort()
  }
  return [await ask('Connection: close\r\n'), await ask('Connection: Upgrade\r\nUpgrade: websocket\r\n')]
}

test.each<[ErrorAnswer, string[]]>([
  [{ code: 'KEY_INVALID' }, ['HTTP/1.1 401 Unauthorized', 'WWW-Authenticate: Bearer', 'Connection: close']],
  [
    { code: 'UPGRADE_REQUIRED' },
    ['HTTP/1.1 426 Upgrade Required', 'Upgrade: websocket', 'Connection: Upgrade, close'],
  ],
  [
    { code: 'SERVER_ERROR', status: 503, message: 'busy', headers: { 'Retry-After': 2 } },
    ['HTTP/1.1 503 Service Unavailable', 'Retry-After: 2', 'Connection: close'],
  ],
])('an error is the same on a response and on a socket, and no cache keeps it: %j', async (answer, own) => {
  const [response, socket] = await answers(answer)
  expect(socket).toEqual(response)
  expect(response).toEqual(
    expect.arrayContaining([
      ...own,
      'Content-Type: application/json; charset=utf-8',
      'Cache-Control: no-store',
      'Access-Control-Allow-Origin: *',
      expect.stringContaining(`{"error":{"code":"${answer.code}"`),
    ]),
  )
})
