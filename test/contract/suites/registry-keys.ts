import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { oldSecretsMax, overlapMsMax } from '../../../services/core/keys/api-key.ts'
import type { RequestOf } from '../../../services/wire/unary-client.ts'
import { effort } from '../../support/effort.ts'
import type { RegistryFixture } from '../../support/fixtures/registry-fixture.ts'

/** Contract of keys whose secrets the operator has, for every store. */
export function registryKeys(open: () => Promise<RegistryFixture>): void {
  let fixture: RegistryFixture
  beforeAll(async () => {
    fixture = await open()
  })
  afterAll(() => fixture.remove())

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

    test('that would end a valid old secret before its time is refused until one ends; without overlap it ends all', async () => {
      const { id, secret } = fresh()
      const startMs = fixture.clock.utcMs()
      const rotate = (issue: number, overlapMs = 60_000) =>
        put(id, secret(issue), { issue, oldUntil: fixture.clock.utcMs() + overlapMs })
      for (let issue = 1; issue <= 5; issue++) {
        expect(await fixture.call('PutKey', rotate(issue))).toMatchObject({ oldSecrets: issue - 1 })
        await fixture.clock.advance(1_000)
      }
      const sixth = rotate(6)
      expect(await fixture.refusal('PutKey', sixth)).toEqual([
        'FAILED_PRECONDITION',
        expect.stringContaining('4 old secrets that are still valid'),
      ])
      // Other fields of the current issue may still change.
      await fixture.call('PutKey', { ...rotate(5), name: 'charts' })
      for (let n = 1; n <= 5; n++) expect(fixture.opens(secret(n))).toBe(id)
      expect(fixture.opens(secret(6))).toBeUndefined()
      await fixture.clock.advance(startMs + 61_000 - fixture.clock.utcMs())
      expect(await fixture.call('PutKey', sixth)).toMatchObject({ issue: 6, oldSecrets: 4 })
      expect([fixture.opens(secret(1)), fixture.opens(secret(6))]).toEqual([undefined, id])
      expect(await fixture.call('PutKey', rotate(7, 0))).toMatchObject({ issue: 7, oldSecrets: 0 })
      expect([fixture.opens(secret(6)), fixture.opens(secret(7))]).toEqual([undefined, id])
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

    test('without feeds grants nothing, and its new secret is valid', async () => {
      const { id, secret } = fresh()
      await fixture.call('PutKey', put(id, secret(1), { issue: 1 }))
      const answer = await fixture.call('PutKey', put(id, secret(2), { issue: 2, feeds: [] }))
      expect(answer.feeds).toEqual([])
      expect(fixture.opens(secret(2))).toBe(id)
    })

    test('by an operator whose clock is a little ahead may have the longest overlap', async () => {
      const { id, secret } = fresh()
      const oldUntil = fixture.clock.utcMs() + overlapMsMax + 30_000
      await fixture.call('PutKey', put(id, secret(1), { issue: 1 }))
      await fixture.call('PutKey', put(id, secret(2), { issue: 2, oldUntil }))
      expect([fixture.opens(secret(1)), fixture.opens(secret(2))]).toEqual([id, id])
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
      expect([status, words]).toEqual(['FAILED_PRECONDITION', expect.stringContaining('"fxd keys"')])
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

  /** More than a key may have at a time. */
  const issues = 8

  /** Calls of two operators and a person for one key, in an order in which calls are late and repeated. */
  const anyCall = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('put' as const), issue: fc.integer({ min: 1, max: issues }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 900 }) }),
    },
    fc.constant({ do: 'suspend' as const }),
    fc.constant({ do: 'rotate' as const }),
    fc.constant({ do: 'revoke' as const }),
  )

  test('a secret opens its key until its end and not after it, for any order, delay and repetition of calls', async () => {
    // Large ones, so that many old secrets are valid at the same time.
    const anyOverlap = fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 5_000, max: 9_000 }))
    const anyOverlaps = fc.array(anyOverlap, { minLength: issues, maxLength: issues })
    const anyCalls = fc.oneof(
      fc.array(anyCall, { minLength: 1, maxLength: 25 }),
      // Rotations one after another: the seventh secret needs the end of an old one.
      fc
        .array(anyCall, { maxLength: 25 })
        .map((calls) => [
          ...Array.from({ length: 5 }, (_, i) => ({ do: 'put' as const, issue: i + 1 })),
          ...calls,
        ]),
    )
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
        /** End of each replaced issue that was accepted. */
        const ends = new Map<number, number>()
        /** The ends once this issue replaces the newest. */
        const endsAfter = (issue: number): [number, number][] => {
          const until = startMs + (overlaps[issue - 1] ?? 0)
          const replaced: [number, number][] = newest === 0 ? [] : [[newest, until]]
          return [
            ...[...ends].map(([old, end]): [number, number] => [old, Math.min(end, until)]),
            ...replaced,
          ]
        }
        const act: Record<string, (call: { do: string; issue?: number; ms?: number }) => Promise<unknown>> = {
          put: async ({ issue = 1 }) => {
            const accepted = await fixture.call('PutKey', requestOf(issue)).then(
              () => true,
              () => false,
            )
            const after = endsAfter(issue)
            const now = fixture.clock.utcMs()
            const isFull = issue > newest && after.filter(([, end]) => end > now).length > oldSecretsMax
            expect(accepted).toBe(!isRevoked && issue >= newest && !isFull)
            if (!accepted) return
            if (issue > newest) for (const [old, end] of after) ends.set(old, end)
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
          for (let issue = 1; issue <= issues; issue++) {
            const isOpen = issue === newest || now < (ends.get(issue) ?? 0)
            const opens = fixture.opens(secret(issue)) !== undefined
            expect(opens).toBe(isOpen && !isRevoked && !isSuspended)
          }
        }
      }),
      { numRuns: Math.round(60 * effort) },
    )
  }, 60_000)
}
