import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerPlainRequest } from './plain-request.ts'

const server = createServer(answerPlainRequest('/v1/stream'))
let origin = ''
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

test.each([
  ['GET', '/v1/stream', 426, null],
  ['HEAD', '/v1/stream', 426, null],
  ['POST', '/v1/stream', 405, 'GET, HEAD, OPTIONS'],
  ['OPTIONS', '/v1/stream', 204, 'GET, HEAD, OPTIONS'],
  ['GET', '/v1/history', 404, null],
  ['OPTIONS', '/v1/history', 404, null],
])('a shard answers %s %s as REST does: %i', async (method, path, status, allow) => {
  const answer = await fetch(origin + path, { method })
  expect([answer.status, answer.headers.get('Allow')]).toEqual([status, allow])
  expect(answer.headers.get('Upgrade')).toBe(status === 426 ? 'websocket' : null)
  // A page may read the answer.
  expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*')
})

test('a preflight for the stream names the header of the key', async () => {
  const answer = await fetch(`${origin}/v1/stream`, { method: 'OPTIONS' })
  expect(answer.headers.get('Access-Control-Allow-Headers')).toContain('X-API-Key')
})
