import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestOf } from '../../../services/wire/unary-client.ts'
import { effort } from '../../support/effort.ts'
import type { RegistryFixture } from '../../support/fixtures/registry-fixture.ts'

/** Contract of keys whose secrets the operator has, for every store. */
export function registryKeys(open: () => Promise<RegistryFixture>): void {
  let fixture: RegistryFixture
  beforeAll(async () => {
    fixture = await open()
  })
  afterAll(async () => {
    await fixture.stop()
    fixture.discard()
  })

  const secretOf = (n: number): string => `fxd_${n.toString(16).padStart(32, '0')}`
  const sha256Of = (secret: string): Buffer => createHash('sha256').update(secret).digest()

  let count = 0
  /** A key id that no other test uses, and secrets for it. */
  const fresh = () => {
    const base = ++count * 1_000
    return { id: `ak_${count}`, secret: (n: number) => secretOf(base + n) }
  }

  const put = (id: string, secret: string, more: Partial<RequestOf<'PutKey'>> = {}) => ({
    id,
    owner: 'uid-1',
    issue: 1,
    sha256: sha256Of(secret),
    prefix: secret.slice(0, 8),
    plan: 'pro',
    feeds: ['BROKERA:ZERO'],
    ...more,
  })

  describe('PutKey', () => {
    test('makes a key that its secret opens; a repeated call changes nothing', async () => {
      const { id, secret } = fresh()
      const key = await fixture.call('PutKey', put(id, secret(1), { name: 'charts' }))
      expect(key).toMatchObject({
        id,
        name: 'charts',
        plan: 'pro',
        owner: 'uid-1',
        issue: 1,
        state: 'active',
      })
      expect(fixture.opens(secret(1))).toBe(id)
      expect(await fixture.call('PutKey', put(id, secret(1), { name: 'charts' }))).toEqual(key)
    })

    test('with an equal issue and digest changes the other fields', async () => {
      const { id, secret } = fresh()
      await fixture.call('PutKey', put(id, secret(1), { name: 'a', limits: { rpm: 7 } }))
      const key = await fixture.call('PutKey', put(id, secret(1), { plan: 'basic' }))
      expect(key).toMatchObject({ name: '', plan: 'basic', limits: { rpm: 30 } })
      expect(fixture.opens(secret(1))).toBe(id)
    })

    test('with a greater issue replaces the secret; the old secret opens the key until `oldUntil`', async () => {
      const { id, secret } = fresh()
      await fixture.call('PutKey', put(id, secret(1)))
      const oldUntil = fixture.clock.utcMs() + 60_000
      await fixture.call('PutKey', put(id, secret(2), { issue: 2, oldUntil }))
      await fixture.clock.advance(59_999)
      // A late repetition does not prolong the old secret.
      await fixture.call('PutKey', put(id, secret(2), { issue: 2, oldUntil: oldUntil + 3_600_000 }))
      expect([fixture.opens(secret(1)), fixture.opens(secret(2))]).toEqual([id, id])
      await fixture.clock.advance(1)
      expect([fixture.opens(secret(1)), fixture.opens(secret(2))]).toEqual([undefined, id])
    })

    test.each([
      ['a smaller issue', { issue: 1 }, 1, 'ABORTED'],
      ['an equal issue with another secret', { issue: 2 }, 3, 'ABORTED'],
      ['another owner', { issue: 3, owner: 'uid-2' }, 3, 'FAILED_PRECONDITION'],
      ['no owner', { issue: 3, owner: '' }, 3, 'INVALID_ARGUMENT'],
      ['a digest of another length', { issue: 3, sha256: Buffer.alloc(31) }, 3, 'INVALID_ARGUMENT'],
      [
        'an overlap of more than 90 days',
        { issue: 3, oldUntil: Date.UTC(2100, 0, 1) },
        3,
        'INVALID_ARGUMENT',
      ],
      ['an unknown feed', { issue: 3, feeds: ['NO:FEED'] }, 3, 'NOT_FOUND'],
    ] as const)('with %s is refused and changes nothing', async (_, more, n, status) => {
      const { id, secret } = fresh()
      await fixture.call('PutKey', put(id, secret(2), { issue: 2 }))
      const { feeds, ...others } = { feeds: ['BROKERA:ZERO'] as readonly string[], ...more }
      const request = put(id, secret(n), { ...others, feeds: [...feeds] })
      expect((await fixture.refusal('PutKey', request))[0]).toBe(status)
      expect([fixture.opens(secret(2)), fixture.opens(secret(3))]).toEqual([id, undefined])
    })

    test('based on an older version, or on none, fails with ABORTED, unless it repeats the stored values', async () => {
      const { id, secret } = fresh()
      const wanted = put(id, secret(1), { name: 'a', basedOn: 0 })
      const { version: basedOn } = await fixture.call('PutKey', wanted)
      const key = await fixture.call('PutKey', put(id, secret(1), { name: 'b', basedOn }))
      expect((await fixture.refusal('PutKey', wanted))[0]).toBe('ABORTED')
      expect((await fixture.refusal('PutKey', put(id, secret(1), { name: 'a', basedOn })))[0]).toBe('ABORTED')
      expect(await fixture.call('PutKey', put(id, secret(1), { name: 'b', basedOn }))).toEqual(key)
      expect(await fixture.call('GetKey', { id })).toEqual(key)
    })

    test('with the secret of another key fails with ALREADY_EXISTS until that key is revoked', async () => {
      const [one, other] = [fresh(), fresh()]
      await fixture.call('PutKey', put(one.id, one.secret(1)))
      expect((await fixture.refusal('PutKey', put(other.id, one.secret(1))))[0]).toBe('ALREADY_EXISTS')
      await fixture.call('RevokeKey', { id: one.id })
      await fixture.call('PutKey', put(other.id, one.secret(1)))
      expect(fixture.opens(one.secret(1))).toBe(other.id)
    })

    test('of a revoked key is refused', async () => {
      const { id, secret } = fresh()
      await fixture.call('PutKey', put(id, secret(1)))
      await fixture.call('RevokeKey', { id })
      expect((await fixture.refusal('PutKey', put(id, secret(2), { issue: 2 })))[0]).toBe(
        'FAILED_PRECONDITION',
      )
    })

    test('with a previous owner takes over the key of a deleted object', async () => {
      const { id, secret } = fresh()
      await fixture.call('PutKey', put(id, secret(1)))
      const key = await fixture.call('PutKey', put(id, secret(1), { owner: 'uid-2', previousOwner: 'uid-1' }))
      expect(key.owner).toBe('uid-2')
      expect((await fixture.refusal('PutKey', put(id, secret(1))))[0]).toBe('FAILED_PRECONDITION')
    })

    test('UpdateKey and RotateKey refuse the key of an object; RevokeKey accepts it', async () => {
      const { id, secret } = fresh()
      await fixture.call('PutKey', put(id, secret(1)))
      expect((await fixture.refusal('UpdateKey', { id, name: 'b' }))[1]).toContain('uid-1')
      expect((await fixture.refusal('RotateKey', { id }))[0]).toBe('FAILED_PRECONDITION')
      expect((await fixture.call('RevokeKey', { id })).state).toBe('inactive')
    })

    test('of a key that the command line made is refused', async () => {
      const { key } = await fixture.create()
      const { secret } = fresh()
      const [status, words] = await fixture.refusal('PutKey', put(key?.id ?? '', secret(1)))
      expect([status, words]).toEqual(['FAILED_PRECONDITION', expect.stringContaining('the command line')])
    })
  })

  describe('SuspendKey', () => {
    test('makes a key inactive until its owner puts it again; a call by another owner has no effect', async () => {
      const { id, secret } = fresh()
      await fixture.call('PutKey', put(id, secret(1)))
      expect(await fixture.call('SuspendKey', { id, owner: 'uid-2' })).toEqual({ suspended: false })
      expect(fixture.opens(secret(1))).toBe(id)
      expect(await fixture.call('SuspendKey', { id, owner: 'uid-1' })).toEqual({ suspended: true })
      expect(await fixture.call('SuspendKey', { id, owner: 'uid-1' })).toEqual({ suspended: true })
      expect(fixture.opens(secret(1))).toBeUndefined()
      const suspended = await fixture.call('GetKey', { id })
      // Pods of an earlier release do not know suspension, so the key also expires.
      expect(suspended).toMatchObject({ state: 'inactive', expiresAt: fixture.clock.utcMs() })
      await fixture.call('PutKey', put(id, secret(1)))
      expect(fixture.opens(secret(1))).toBe(id)
      expect((await fixture.call('GetKey', { id })).expiresAt).toBeUndefined()
    })
  })

  /** Calls of two operators and a person for one key, in an order in which calls are late and repeated. */
  const anyCall = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('put' as const), issue: fc.integer({ min: 1, max: 4 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 900 }) }),
    },
    fc.constant({ do: 'suspend' as const }),
    fc.constant({ do: 'rotate' as const }),
    fc.constant({ do: 'revoke' as const }),
  )

  test('no secret opens its key after its end, for any order, delay and repetition of calls', async () => {
    const anyOverlaps = fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 4, maxLength: 4 })
    const anyCalls = fc.array(anyCall, { minLength: 1, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(anyOverlaps, anyCalls, async (overlaps, calls) => {
        const { id, secret } = fresh()
        const startMs = fixture.clock.utcMs()
        // Both operators compute the same request for an issue: it contains an instant, not a duration.
        const requestOf = (issue: number) =>
          put(id, secret(issue), { issue, oldUntil: startMs + (overlaps[issue - 1] ?? 0) })
        let newest = 0
        let isRevoked = false
        let isSuspended = false
        /** Earliest end of each replaced issue. */
        const ends = new Map<number, number>()
        const act: Record<string, (call: { do: string; issue?: number; ms?: number }) => Promise<unknown>> = {
          put: async ({ issue = 1 }) => {
            const accepted = await fixture.call('PutKey', requestOf(issue)).then(
              () => true,
              () => false,
            )
            expect(accepted).toBe(!isRevoked && issue >= newest)
            if (!accepted) return
            for (let old = 1; old < issue; old++)
              ends.set(
                old,
                Math.min(ends.get(old) ?? Number.POSITIVE_INFINITY, startMs + (overlaps[issue - 1] ?? 0)),
              )
            newest = issue
            isSuspended = false
          },
          suspend: async () => {
            await fixture.call('SuspendKey', { id, owner: 'uid-1' })
            isSuspended = newest > 0 && !isRevoked
          },
          rotate: async () => expect((await fixture.refusal('RotateKey', { id }))[0]).not.toBe('OK'),
          revoke: async () => {
            if (newest === 0) return
            await fixture.call('RevokeKey', { id })
            isRevoked = true
          },
          pass: ({ ms = 0 }) => fixture.clock.advance(ms),
        }
        for (const call of calls) {
          await act[call.do]?.(call)
          const now = fixture.clock.utcMs()
          for (let issue = 1; issue <= 4; issue++) {
            const mayOpen = issue === newest || (issue < newest && now < (ends.get(issue) ?? 0))
            const opens = fixture.opens(secret(issue)) !== undefined
            if (opens) expect(mayOpen && !isRevoked && !isSuspended).toBe(true)
            // The newest secret opens the key unless it is revoked or suspended.
            else expect(issue === newest && !isRevoked && !isSuspended).toBe(false)
          }
        }
      }),
      { numRuns: Math.round(60 * effort) },
    )
  }, 60_000)
}
