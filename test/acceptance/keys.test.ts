import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ask, refusedUpgrade } from './client/http.ts'
import { issueKey, keysCommand, listKeys, revokeKey, rotateKey, showKey, updateKey } from './client/keys.ts'
import { withinOneMinute } from './client/minute.ts'
import { target } from './client/target.ts'
import { until } from './client/until.ts'

const inForceMs = 5000
const code = async (key: string) => {
  const answer = await ask('/v1/status', { key })
  return answer.status === 200 ? 'ok' : answer.body.error.code
}
const becomes = (key: string, wanted: string) =>
  until(`${wanted} for the key`, async () => (await code(key)) === wanted, inForceMs)

describe('a new key', () => {
  test('a key is fxd_ and 32 hex characters, 36 in all', async () => {
    const { key } = await issueKey()
    expect(key).toMatch(/^fxd_[0-9a-f]{32}$/)
    expect(key).toHaveLength(36)
  })

  test('a key works as soon as the command that issued it ends', async () => {
    expect(await code((await issueKey()).key)).toBe('ok')
  })

  test('a key is shown once: no later command prints it', async () => {
    const issued = await issueKey({ name: 'shown once' })
    const later = await Promise.all([showKey(issued.id), listKeys(), updateKey(issued.id, { rpm: 5 })])
    expect(JSON.stringify(later)).toContain(issued.id)
    expect(JSON.stringify(later)).not.toContain(issued.key)
    expect(JSON.stringify(later)).not.toMatch(/fxd_[0-9a-f]{32}/)
    expect((await revokeKey(issued.id)) as object).not.toHaveProperty('key')
  })

  test('the prefix of a key is its first eight characters', async () => {
    const issued = await issueKey()
    expect(issued.prefix).toBe(issued.key.slice(0, 8))
  })

  test('two keys have different secrets and different ids', async () => {
    const [first, second] = await Promise.all([issueKey(), issueKey()])
    expect(first.key).not.toBe(second.key)
    expect(first.id).not.toBe(second.id)
  })

  test('an enterprise key without all four limits is refused', async () => {
    const outcome = await keysCommand('create', ['--json'], {
      plan: 'enterprise',
      feeds: ['BROKERA:ZERO'],
      rpm: 10,
      rpd: 10,
      wsConnections: 1,
    })
    expect(outcome.code).not.toBe(0)
    expect(outcome.stderr).toMatch(/symbols/i)
  })

  test('an unknown feed is refused with a suggestion', async () => {
    const outcome = await keysCommand('create', ['--json'], { plan: 'basic', feeds: ['BROKERA:ZER0'] })
    expect(outcome.code).not.toBe(0)
    expect(outcome.stderr).toContain('BROKERA:ZER0')
    expect(outcome.stderr).toContain('BROKERA:ZERO')
  })

  test('an unknown plan and an impossible expiry date are refused naming the value', async () => {
    const plan = await keysCommand('create', ['--json'], { plan: 'gold', feeds: ['BROKERA:ZERO'] })
    expect(plan.code).not.toBe(0)
    expect(plan.stderr).toContain('gold')
    const expires = '2027-02-31'
    const date = await keysCommand('create', ['--json'], { plan: 'basic', feeds: ['BROKERA:ZERO'], expires })
    expect(date.code).not.toBe(0)
    expect(date.stderr).toContain(expires)
  })
})

describe('a changed key', () => {
  test('rotation creates a new secret, invalidates the old one and keeps the id', async () => {
    const issued = await issueKey()
    const rotated = await rotateKey(issued.id)
    expect(rotated.id).toBe(issued.id)
    expect(rotated.key).not.toBe(issued.key)
    await becomes(rotated.key, 'ok')
    await becomes(issued.key, 'KEY_INVALID')
  })

  test('rotation with an overlap keeps the old secret valid; both share the limits of one key', () =>
    withinOneMinute(async () => {
      const issued = await issueKey({ plan: 'basic', rpm: 1000, rpd: 3 })
      const rotated = await rotateKey(issued.id, '1h')
      expect(await code(issued.key)).toBe('ok')
      await becomes(rotated.key, 'ok')
      expect(await code(issued.key)).toBe('ok')
      // A pod may not know the new secret yet. It refuses the request and does not count it.
      const known = async () => {
        const now = await code(rotated.key)
        return now !== 'KEY_INVALID' && now
      }
      expect(await until('the secret to be known', known, inForceMs)).toBe('RATE_LIMIT_EXCEEDED')
    }))

  test('a revocation is final', async () => {
    const issued = await issueKey()
    await revokeKey(issued.id)
    await becomes(issued.key, 'KEY_INACTIVE')
    const outcome = await keysCommand('rotate', [issued.id, '--json'])
    expect(outcome.code).not.toBe(0)
    expect(await code(issued.key)).toBe('KEY_INACTIVE')
  })

  test('a new grant takes effect within five seconds', async () => {
    const issued = await issueKey({ feeds: ['BROKERB:LIVE'] })
    const path = '/v1/symbols?symbol=BROKERA:ZERO:EURUSD'
    expect((await ask(path, { key: issued.key })).status).toBe(403)
    await updateKey(issued.id, { feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
    await until('the grant', async () => (await ask(path, { key: issued.key })).status === 200, inForceMs)
  })

  test('a withdrawn grant ends within five seconds, for listings and for single symbols', async () => {
    const issued = await issueKey({ feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
    const single = '/v1/symbols?symbol=BROKERA:ZERO:EURUSD'
    expect((await ask(single, { key: issued.key })).status).toBe(200)
    await updateKey(issued.id, { feeds: ['BROKERB:LIVE'] })
    const history = '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=1'
    // Each pod learns of it separately.
    await until(
      'the grant to end for every request',
      async () => {
        for (const path of [single, history])
          expect((await ask(path, { key: issued.key })).status, path).toBe(403)
        for (const path of ['/v1/symbols?limit=1000', '/v1/coverage', '/v1/status']) {
          const answer = await ask(path, { key: issued.key })
          expect(answer.status).toBe(200)
          expect(answer.text, path).not.toContain('BROKERA:ZERO')
        }
        return true
      },
      inForceMs,
    )
  })
})

describe('a key never appears in logs, metrics or errors', () => {
  test('neither the log, nor the metrics, nor an error body contains a key that was used', async () => {
    const issued = await issueKey({ plan: 'basic', rpd: 3, wsConnections: 1 })
    const { key } = issued
    const errors = await Promise.all([
      ask(`/v1/nothing?api_key=${key}`),
      ask(`/v1/${key}`),
      ask(`/v1/history?api_key=${key}&symbol=${key}&resolution=${key}&countback=1`),
      ask(`/v1/symbols?api_key=${key}&symbol=${key}`),
      ask(`/v1/symbols?api_key=${key}&limit=${key}`),
      ask(`/v1/status?api_key=${key}&api_key=${key}`),
      ask(`/v1/status?api_key=${key}`, { method: 'POST' }),
      ask(`/v1/status?api_key=${key}x`),
      ask('/v1/status', { headers: { Authorization: `Bearer ${key} ${key}` } }),
      refusedUpgrade(`/v1/streams?api_key=${key}`),
      refusedUpgrade(`/v1/stream?api_key=${key}&api_key=${key}`),
    ])
    await revokeKey(issued.id)
    await becomes(key, 'KEY_INACTIVE')
    for (const { text } of [...errors, await ask(`/v1/status?api_key=${key}`)])
      expect(text).not.toContain(key)
    const metrics = await ask('/metrics', { base: target().ops })
    expect(metrics.status).toBe(200)
    expect(metrics.text).toContain('fxd_')
    expect(metrics.text).not.toContain(key)
    const log = readFileSync(target().log, 'utf8')
    expect(log.length).toBeGreaterThan(100)
    expect(log).not.toContain(key)
    expect(log).not.toMatch(/fxd_[0-9a-f]{32}|fxc_[\w-]{20}/)
  })
})
