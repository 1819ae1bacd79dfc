import { expect, test } from 'vitest'
import { ask, type ErrorBody } from './client/http.ts'

test('a REST request with upgrade headers is answered like any REST request', async () => {
  const headers = { Connection: 'Upgrade', Upgrade: 'websocket' }
  const answer = await ask<ErrorBody & { s: string; errmsg: string }>('/v1/history', { headers })
  expect(answer.status).toBe(401)
  expect(Object.keys(answer.body)).toEqual(['s', 'errmsg', 'error'])
  expect((await ask('/v1/config', { headers })).status).toBe(200)
})

test('an upgrade request with another method is answered like one without an upgrade', async () => {
  const headers = { Connection: 'Upgrade', Upgrade: 'websocket' }
  for (const method of ['POST', 'OPTIONS', 'HEAD']) {
    const [plain, upgrade] = await Promise.all([
      ask('/v1/stream', { method }),
      ask('/v1/stream', { method, headers }),
    ])
    expect([upgrade.status, upgrade.text, upgrade.headers.allow], method).toEqual([
      plain.status,
      plain.text,
      plain.headers.allow,
    ])
  }
})
