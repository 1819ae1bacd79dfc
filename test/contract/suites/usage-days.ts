import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dateText, daySeconds } from '../../../services/core/clocks/calendar.ts'
import { toSeconds } from '../../../services/core/clocks/feed-clock.ts'
import {
  counterNames,
  type DailyCounters,
  type Day,
  greaterCounters,
  noCounters,
  usageDaysKept,
} from '../../../services/core/keys/usage.ts'
import type { KeyDay } from '../../../services/ports/usage-days.ts'
import { freshName, type Open, openedOnce } from './opened.ts'

/** Contract of all stores of closed days of usage; see services/ports/usage-days.ts. */
export function describeUsageDays(name: string, open: Open<'usageDays'>): void {
  describe(`closed days of usage in ${name}`, () => {
    const opened = openedOnce(open)
    const store = () => opened().stores.usageDays
    const dayAgo = (days: number): Day => dateText(toSeconds(opened().clock.utcMs()) - days * daySeconds)
    const all = (keyId: string) => store().of(keyId, '1970-01-01', dayAgo(0))

    test('the greatest value of each counter of a key and day is stored, for any order and repetition', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyCount, { maxLength: 12 }), fc.boolean(), async (counts, atOnce) => {
          const keys = [freshName('key'), freshName('key')]
          const days = counts.map(({ key, daysAgo, counters }): KeyDay => {
            return { keyId: keys[key]!, day: dayAgo(1 + daysAgo), counters }
          })
          if (atOnce) await Promise.all(days.map((day) => store().add([day, day])))
          else for (const day of days) await store().add([day])
          await store().add(days.toReversed())
          for (const keyId of keys) {
            const wanted = new Map<Day, DailyCounters>()
            for (const { day, counters } of days.filter((each) => each.keyId === keyId))
              wanted.set(day, greaterCounters(wanted.get(day) ?? noCounters, counters))
            expect(new Map(await all(keyId))).toEqual(wanted)
          }
        }),
        { numRuns: 8 },
      )
    })

    test('a read returns the requested days with both ends, oldest first, and no other days', async () => {
      const [key, other] = ['__proto__', freshName("it's, a=key ")]
      const counted = (requests: number) => ({ ...noCounters, requests })
      const days = [1, 2, 3, usageDaysKept - 1].map((ago): KeyDay => {
        return { keyId: key, day: dayAgo(ago), counters: counted(ago) }
      })
      await store().add([...days, { keyId: other, day: dayAgo(2), counters: counted(77) }])
      expect([...(await store().of(key, dayAgo(3), dayAgo(2)))]).toEqual([
        [dayAgo(3), counted(3)],
        [dayAgo(2), counted(2)],
      ])
      expect((await all(key)).size).toBe(4)
      expect([...(await all(other)).values()]).toEqual([counted(77)])
      expect(await store().of(key, dayAgo(10), dayAgo(4))).toEqual(new Map())
      expect(await all(freshName('key'))).toEqual(new Map())
    })

    test('thousands of keys are added in one call, and an empty call adds nothing', async () => {
      await store().add([])
      const keys = Array.from({ length: 3_000 }, () => freshName('key'))
      const counters = { ...noCounters, requests: 2 ** 40, history: 1 }
      await store().add(keys.map((keyId) => ({ keyId, day: dayAgo(1), counters })))
      for (const keyId of [keys[0]!, keys[1_500]!, keys[2_999]!])
        expect([...(await all(keyId))]).toEqual([[dayAgo(1), counters]])
    })

    test.for(['closed', 'killed'] as const)('an added day survives when the store is %s', async (how) => {
      const before = await open()
      const day = dateText(toSeconds(before.clock.utcMs()) - daySeconds)
      const counters = { ...noCounters, requests: 5, rate_limited: 1 }
      await before.stores.usageDays.add([{ keyId: 'key', day, counters }])
      const after = await before.reopen(how)
      expect([...(await after.stores.usageDays.of('key', day, day))]).toEqual([[day, counters]])
      await after.close()
    })
  })
}

const anyCount = fc.record({
  key: fc.nat(1),
  daysAgo: fc.nat(3),
  counters: fc
    .array(fc.nat(4), { minLength: counterNames.length, maxLength: counterNames.length })
    .map((counts) => Object.fromEntries(counterNames.map((name, i) => [name, counts[i]])) as DailyCounters),
})
