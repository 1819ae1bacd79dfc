import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noCounters } from '../../../services/core/keys/usage.ts'
import { slotLeaseMs, slotRenewMs } from '../../../services/ports/slots.ts'
import { freshName, type Open, openedOnce } from './opened.ts'

/** Contract of all adapters of slots; see services/ports/slots.ts. Counters are read through the limits. */
export function describeSlots(name: string, open: Open<'slots' | 'limits'>): void {
  describe(`slots in ${name}`, () => {
    describeCap(open)
    describeLeases(open)
    describeLapses(open)
    describeSessionCounters(open)
    describeEndsAfterMidnight(open)
  })
}

function describeCap(open: Open<'slots' | 'limits'>): void {
  const opened = openedOnce(open)
  const slots = () => opened().stores.slots

  test('open slots never exceed the cap, with any number of concurrent callers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(10), fc.integer({ min: 1, max: 30 }), async (cap, callers) => {
        const key = freshName('key')
        const outcomes = await Promise.all(
          Array.from({ length: callers }, (_, i) => slots().open(key, `session ${i}`, cap)),
        )
        const opens = outcomes.filter(({ outcome }) => outcome === 'open')
        expect(opens.map(({ inUse }) => inUse).sort((a, b) => a - b)).toEqual(
          Array.from({ length: Math.min(cap, callers) }, (_, i) => i + 1),
        )
        for (const each of outcomes) if (each.outcome === 'full') expect(each.inUse).toBe(cap)
        expect(await slots().inUse(key)).toBe(Math.min(cap, callers))
      }),
    )
  })

  test('a slot stays open until its close or the end of its lease', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { maxLength: 30 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, cap) => {
          const key = freshName('key')
          const openUntil = new Map<string, number>()
          let now = 0
          for (const { action, session, ms } of steps) {
            for (const [id, until] of openUntil) if (until <= now) openUntil.delete(id)
            if (action === 'wait') {
              await opened().clock.advance(ms)
              now += ms
            } else if (action === 'open') {
              const isOpen = openUntil.has(session) || openUntil.size < cap
              if (isOpen) openUntil.set(session, now + slotLeaseMs)
              const wanted = { outcome: isOpen ? 'open' : 'full', inUse: openUntil.size }
              expect(await slots().open(key, session, cap)).toEqual(wanted)
            } else if (action === 'renew') {
              const lapsed = openUntil.has(session) ? [] : [session]
              if (openUntil.has(session)) openUntil.set(session, now + slotLeaseMs)
              expect(await slots().renew([{ keyId: key, sessionId: session }])).toEqual(lapsed)
            } else {
              await slots().close(key, session)
              openUntil.delete(session)
            }
          }
          for (const [id, until] of openUntil) if (until <= now) openUntil.delete(id)
          expect(await slots().inUse(key)).toBe(openUntil.size)
        },
      ),
    )
  })

  test('a closed slot is free at once; closing it again, or closing an unknown slot, has no effect', async () => {
    const key = freshName('key')
    expect(await slots().open(key, 'a', 1)).toEqual({ outcome: 'open', inUse: 1 })
    expect(await slots().open(key, 'b', 1)).toEqual({ outcome: 'full', inUse: 1 })
    for (const session of ['a', 'a', 'b']) await slots().close(key, session)
    expect(await slots().open(key, 'b', 1)).toEqual({ outcome: 'open', inUse: 1 })
  })

  test('a lowered cap refuses new slots and keeps open slots', async () => {
    const key = freshName('key')
    for (const session of ['a', 'b', 'c']) await slots().open(key, session, 3)
    expect(await slots().open(key, 'd', 1)).toEqual({ outcome: 'full', inUse: 3 })
  })

  test('slots of keys and sessions named like properties of objects are independent', async () => {
    for (const key of ['__proto__', 'constructor', freshName('key')])
      for (const [i, session] of ['__proto__', 'constructor'].entries())
        expect(await slots().open(key, session, 2)).toEqual({ outcome: 'open', inUse: i + 1 })
  })
}

function describeLeases(open: Open<'slots' | 'limits'>): void {
  const opened = openedOnce(open)
  const slots = () => opened().stores.slots

  test('a renewed slot stays open; a slot that is not renewed is free after its lease', async () => {
    const key = freshName('key')
    await slots().open(key, 'renewed', 2)
    await slots().open(key, 'left', 2)
    for (let waited = 0; waited < slotLeaseMs; waited += slotRenewMs) {
      expect(await slots().inUse(key)).toBe(2)
      await opened().clock.advance(slotRenewMs)
      await slots().renew([{ keyId: key, sessionId: 'renewed' }])
    }
    expect(await slots().inUse(key)).toBe(1)
    expect(await slots().open(key, 'next', 2)).toEqual({ outcome: 'open', inUse: 2 })
  })
}

function describeLapses(open: Open<'slots' | 'limits'>): void {
  const opened = openedOnce(open)
  const slots = () => opened().stores.slots

  test('renew returns the sessions whose slots lapsed, and opens no slots for them', async () => {
    const key = freshName('key')
    const sessions = ['a', 'b', 'c'].map((sessionId) => ({ keyId: key, sessionId }))
    for (const { sessionId } of sessions) await slots().open(key, sessionId, 3)
    expect(await slots().renew(sessions)).toEqual([])
    await opened().clock.advance(slotLeaseMs)
    await slots().open(key, 'b', 3)
    expect(await slots().renew(sessions)).toEqual(['a', 'c'])
    expect(await slots().inUse(key)).toBe(1)
  })

  test('a lapsed session opens again within the cap, and is not counted as a new connection', async () => {
    const key = freshName('key')
    const today = utcDayOf(opened().clock.utcMs())
    await slots().open(key, 'a', 2)
    await slots().open(key, 'b', 2)
    await opened().clock.advance(slotLeaseMs)
    await slots().open(key, 'other', 2)
    expect(await slots().open(key, 'a', 2, today)).toEqual({ outcome: 'open', inUse: 2 })
    expect(await slots().open(key, 'b', 2, today)).toEqual({ outcome: 'full', inUse: 2 })
    const usage = await opened().stores.limits.usage(key, today, today)
    expect(usage).toEqual(new Map([[today, { ...noCounters, ws_connect: 3, ws_session: 3 }]]))
  })
}

const beforeMidnight = Date.UTC(2026, 0, 31, 23, 59, 30)

function describeEndsAfterMidnight(open: Open<'slots' | 'limits'>): void {
  const opened = openedOnce(() => open(beforeMidnight))
  const slots = () => opened().stores.slots

  test('a session that ends, or opens again, on a later day is counted for that day', async () => {
    const key = freshName('key')
    await slots().open(key, 'ends', 2)
    await slots().open(key, 'lapses', 2)
    await opened().clock.advance(slotLeaseMs - 1)
    await slots().close(key, 'ends')
    await slots().close(key, 'ends')
    await opened().clock.advance(1)
    await slots().open(key, 'lapses', 2, '2026-01-31')
    await slots().close(key, 'lapses')
    expect(await opened().stores.limits.usage(key, '2026-01-01', '2026-12-31')).toEqual(
      new Map([
        ['2026-01-31', { ...noCounters, ws_connect: 2, ws_session: 2 }],
        ['2026-02-01', { ...noCounters, ws_session: 2 }],
      ]),
    )
  })
}

function describeSessionCounters(open: Open<'slots' | 'limits'>): void {
  const opened = openedOnce(() => open(beforeMidnight))
  const slots = () => opened().stores.slots
  const usage = (key: string) => opened().stores.limits.usage(key, '2026-01-01', '2026-12-31')

  test('an open slot counts one connection and one session on its day, and one session on each later day', async () => {
    const key = freshName('key')
    await slots().open(key, 'a', 2)
    await slots().open(key, 'a', 2)
    await slots().open(key, 'b', 2)
    await slots().open(key, 'refused', 2)
    const renewBoth = () => slots().renew(['a', 'b', 'a'].map((sessionId) => ({ keyId: key, sessionId })))
    await renewBoth()
    const january = { ...noCounters, ws_connect: 2, ws_session: 2 }
    expect(await usage(key)).toEqual(new Map([['2026-01-31', january]]))
    await slots().close(key, 'b')
    await opened().clock.advance(slotRenewMs)
    await slots().renew([{ keyId: key, sessionId: 'a' }])
    await opened().clock.advance(slotRenewMs)
    await slots().renew([{ keyId: key, sessionId: 'a' }])
    await slots().renew([{ keyId: key, sessionId: 'a' }])
    const february = { ...noCounters, ws_session: 1 }
    const days = new Map([
      ['2026-01-31', january],
      ['2026-02-01', february],
    ])
    expect(await usage(key)).toEqual(days)
    await slots().close(key, 'a')
    expect(await usage(key)).toEqual(days)
  })
}

const utcDayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const anyStep = fc.record({
  action: fc.constantFrom(
    'wait' as const,
    'open' as const,
    'open' as const,
    'renew' as const,
    'close' as const,
  ),
  session: fc.constantFrom('a', 'b', 'c', 'd'),
  ms: fc.constantFrom(1, slotRenewMs, slotLeaseMs - 1, slotLeaseMs),
})
