import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leaseMs } from '../../../services/ports/lease.ts'
import { freshName, type Open, openedOnce } from './opened.ts'

/** Contract of all adapters of leases; see services/ports/lease.ts. */
export function describeLeases(adapter: string, open: Open<'leases'>): void {
  describe(`leases in ${adapter}`, () => {
    const opened = openedOnce(open)
    const leases = () => opened().stores.leases

    test('a lease has at most one holder, and each new grant has a greater epoch', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
          const name = freshName('lease')
          let lease: { holder: string; epoch: number; until: number } | undefined
          let greatest = 0
          let now = 0
          for (const { action, holder, ms } of steps) {
            const lasts = lease !== undefined && lease.until > now
            if (action === 'wait') {
              await opened().clock.advance(ms)
              now += ms
            } else if (action === 'acquire') {
              const granted = await leases().acquire(name, holder)
              if (lasts && lease?.holder !== holder) expect(granted).toBeUndefined()
              else {
                if (lease?.holder === holder) expect(granted?.epoch).toBe(lease.epoch)
                else expect(granted?.epoch).toBeGreaterThan(greatest)
                greatest = granted!.epoch
                lease = { holder, epoch: granted!.epoch, until: now + leaseMs }
              }
            } else if (action === 'renew') {
              expect(await leases().renew(name, holder)).toBe(lease?.holder === holder)
              if (lease?.holder === holder) lease.until = now + leaseMs
            } else {
              await leases().release(name, holder)
              if (lease?.holder === holder) lease = undefined
            }
          }
        }),
      )
    })

    test('exactly one of many concurrent requests for a lease is granted', async () => {
      const name = freshName('lease')
      const holders = Array.from({ length: 20 }, (_, i) => `holder ${i}`)
      const grants = await Promise.all(holders.map((holder) => leases().acquire(name, holder)))
      expect(grants.filter((grant) => grant !== undefined)).toHaveLength(1)
    })

    test('a renewed lease stays with its holder; a lease that is not renewed lapses', async () => {
      const name = freshName('lease')
      await leases().acquire(name, 'a')
      for (let renewals = 0; renewals < 5; renewals++) {
        await opened().clock.advance(leaseMs - 1)
        expect(await leases().acquire(name, 'b')).toBeUndefined()
        expect(await leases().renew(name, 'a')).toBe(true)
      }
      await opened().clock.advance(leaseMs)
      expect(await leases().acquire(name, 'b')).toBeDefined()
      expect(await leases().renew(name, 'a')).toBe(false)
      expect(await leases().acquire(name, 'a')).toBeUndefined()
    })

    test('the holder of a lapsed lease may renew it with the same epoch until another holder gets it', async () => {
      const name = freshName('lease')
      const granted = await leases().acquire(name, 'a')
      await opened().clock.advance(10 * leaseMs)
      expect(await leases().renew(name, 'b')).toBe(false)
      expect(await leases().renew(name, 'a')).toBe(true)
      expect(await leases().acquire(name, 'b')).toBeUndefined()
      expect(await leases().acquire(name, 'a')).toEqual(granted)
    })

    test('a lease that lapsed and was released has no holder', async () => {
      const name = freshName('lease')
      const granted = await leases().acquire(name, 'a')
      await opened().clock.advance(leaseMs)
      await leases().release(name, 'a')
      expect(await leases().renew(name, 'a')).toBe(false)
      expect((await leases().acquire(name, 'a'))?.epoch).toBeGreaterThan(granted!.epoch)
    })

    test('a release by a process that is not the holder changes nothing', async () => {
      const name = freshName('lease')
      const granted = await leases().acquire(name, 'a')
      await leases().release(name, 'b')
      expect(await leases().acquire(name, 'b')).toBeUndefined()
      expect(await leases().renew(name, 'a')).toBe(true)
      expect(await leases().acquire(name, 'a')).toEqual(granted)
    })

    test('leases named like properties of objects are independent', async () => {
      const names = ['__proto__', 'constructor', freshName('lease')]
      for (const each of names) expect(await leases().acquire(each, `holder of ${each}`)).toBeDefined()
      for (const each of names) expect(await leases().renew(each, `holder of ${each}`)).toBe(true)
    })

    test.for(['closed', 'killed'] as const)('epochs keep growing after the store was %s', async (how) => {
      const before = await open()
      const first = await before.stores.leases.acquire('feed', 'a')
      await before.stores.leases.release('feed', 'a')
      const after = await before.reopen(how)
      const second = await after.stores.leases.acquire('feed', 'a')
      expect(second?.epoch).toBeGreaterThan(first!.epoch)
      await after.close()
    })
  })
}

const anyStep = fc.record({
  action: fc.constantFrom('wait' as const, 'acquire' as const, 'renew' as const, 'release' as const),
  holder: fc.constantFrom('a', 'b', 'c'),
  ms: fc.constantFrom(1, 3_000, leaseMs - 1, leaseMs, leaseMs + 1),
})
