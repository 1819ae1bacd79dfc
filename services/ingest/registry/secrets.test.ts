import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRegistryFixture, type RegistryFixture } from '../../../test/support/fixtures/registry-fixture.ts'
import type { AnswerOf } from '../../wire/unary-client.ts'

const dayMs = 86_400_000
let fixture: RegistryFixture
beforeAll(async () => {
  fixture = await openRegistryFixture()
})
afterAll(() => fixture.remove())

describe('rotating a key', () => {
  test('without overlap the old secret is refused at once; id, limits and grants stay', async () => {
    const { key, secret } = await fixture.create({ name: 'a', limits: { rpm: 7 } })
    const rotated = await fixture.call('RotateKey', { id: key?.id ?? '' })
    expect(rotated.secret).toMatch(/^fxd_[0-9a-f]{32}$/)
    expect(rotated.secret).not.toBe(secret)
    expect(rotated.key).toEqual({
      ...key,
      prefix: rotated.secret.slice(0, 8),
      version: rotated.key?.version,
    })
    expect([fixture.opens(secret), fixture.opens(rotated.secret)]).toEqual([undefined, key?.id])
  })

  test('with overlap both secrets are valid until its end', async () => {
    const { key, secret } = await fixture.create()
    const rotated = await fixture.call('RotateKey', { id: key?.id ?? '', overlapMs: 3_600_000 })
    expect(rotated.key?.oldSecretUntil).toBe(fixture.clock.utcMs() + 3_600_000)
    await fixture.clock.advance(3_599_999)
    expect([fixture.opens(secret), fixture.opens(rotated.secret)]).toEqual([key?.id, key?.id])
    await fixture.clock.advance(1)
    expect([fixture.opens(secret), fixture.opens(rotated.secret)]).toEqual([undefined, key?.id])
    expect(await fixture.call('GetKey', { id: key?.id ?? '' })).not.toHaveProperty('oldSecretUntil')
  })

  test('an earlier overlap keeps its end, and the number of overlaps is limited', async () => {
    const { key, secret } = await fixture.create()
    const id = key?.id ?? ''
    await fixture.call('RotateKey', { id, overlapMs: 1_000 })
    for (let i = 0; i < 3; i += 1) await fixture.call('RotateKey', { id, overlapMs: dayMs })
    await fixture.clock.advance(999)
    expect(fixture.opens(secret)).toBe(id)
    expect((await fixture.refusal('RotateKey', { id, overlapMs: dayMs }))[0]).toBe('FAILED_PRECONDITION')
    await fixture.clock.advance(1)
    expect(fixture.opens(secret)).toBeUndefined()
    await fixture.call('RotateKey', { id, overlapMs: dayMs })
  })

  test('an overlap above its maximum is refused', async () => {
    const { key } = await fixture.create()
    expect(await fixture.refusal('RotateKey', { id: key?.id ?? '', overlapMs: 91 * dayMs })).toEqual([
      'INVALID_ARGUMENT',
      expect.stringContaining('90d'),
    ])
  })
})

describe('revoking a key', () => {
  test('is final: no secret is valid, no change is accepted, and a repeat does nothing', async () => {
    const { key, secret } = await fixture.create()
    const id = key?.id ?? ''
    const revoked = await fixture.call('RevokeKey', { id })
    expect(revoked.state).toBe('inactive')
    expect(fixture.opens(secret)).toBeUndefined()
    expect(await fixture.call('RevokeKey', { id })).toEqual(revoked)
    expect(await fixture.refusal('UpdateKey', { id, name: 'again' })).toEqual([
      'FAILED_PRECONDITION',
      expect.stringContaining('revoked'),
    ])
    expect((await fixture.refusal('RotateKey', { id }))[0]).toBe('FAILED_PRECONDITION')
    expect(await fixture.call('GetKey', { id })).toEqual(revoked)
  })
})

describe('listing keys', () => {
  test('returns the oldest first, in pages that fit a message, without secrets', async () => {
    const allowIps = Array.from(
      { length: 200 },
      (_, i) => `2001:db8:1111:2222:3333:4444:5555:${i.toString(16)}`,
    )
    const issued = []
    for (let i = 0; i < 40; i += 1) {
      issued.push(await fixture.create({ name: `key ${i}`, allowIps }))
    }
    const listed: AnswerOf<'GetKey'>[] = []
    let pages = 0
    for (let after = ''; pages === 0 || after !== ''; pages += 1) {
      const { keys, next } = await fixture.call('ListKeys', { after })
      listed.push(...keys)
      after = next
    }
    expect(pages).toBeGreaterThan(1)
    expect(listed.slice(-issued.length)).toEqual(issued.map(({ key }) => key))
    expect(listed).toHaveLength(fixture.registry.view().keys.all().length)
    expect(issued.some(({ secret }) => JSON.stringify(listed).includes(secret))).toBe(false)
  })
})
