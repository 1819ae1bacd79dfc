import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DailyCounters, type Day, endpoints, noCounters } from '../../../services/core/keys/usage.ts'
import type { Limits, RateLimits } from '../../../services/ports/limits.ts'
import { freshName, type Open, openedOnce } from './opened.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const secondMs = 1_000

/** Contract of all adapters of limits; see services/ports/limits.ts. */
export function describeLimits(name: string, open: Open<'limits'>): void {
  describe(`limits in ${name}`, () => {
    describeWindows(open)
    describeUsage(open)
    describeRestarts(open)
  })
}

function describeWindows(open: Open<'limits'>): void {
  const opened = openedOnce(open)
  const limits = () => opened().stores.limits
  const now = () => opened().clock.utcMs()
  const toNextMinute = () => opened().clock.advance(minuteMs - (now() % minuteMs))

  test('admitted requests never exceed the limit, with any number of concurrent callers', async () => {
    const anyLimit = fc.integer({ min: 0, max: 30 })
    await fc.assert(
      fc.asyncProperty(anyLimit, anyLimit, fc.integer({ min: 1, max: 60 }), async (rpm, rpd, requests) => {
        const key = freshName('key')
        const decisions = await Promise.all(
          Array.from({ length: requests }, () => limits().admit(key, { rpm, rpd }, 'history')),
        )
        const admitted = decisions.filter(({ outcome }) => outcome === 'admitted')
        expect(admitted).toHaveLength(Math.min(rpm, rpd, requests))
        const shown = admitted.map(({ state }) => state.remainingMinute).sort((a, b) => b - a)
        expect(shown).toEqual(Array.from(shown, (_, i) => rpm - 1 - i))
      }),
    )
  })

  test('decisions and counters equal those of the model for any sequence of calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 30 }), anyLimits, async (steps, rates) => {
        const key = freshName('key')
        const model = new LimitsModel(rates)
        for (const { action, endpoint, ms } of steps) {
          if (action === 'wait') await opened().clock.advance(ms)
          else if (action === 'upgrade') {
            model.count(now(), 'rate_limited')
            await limits().countRefusedUpgrade(key)
          } else if (action === 'observe') {
            model.count(now(), 'requests', endpoint)
            expect(await limits().observe(key, rates, endpoint)).toEqual(model.state(now()))
          } else {
            const wanted = model.admit(now())
            if (wanted.outcome === 'admitted') model.count(now(), 'requests', endpoint)
            else model.count(now(), 'rate_limited')
            expect(await limits().admit(key, rates, endpoint)).toEqual(wanted)
          }
        }
        expect(await limits().usage(key, '1970-01-01', '9999-12-31')).toEqual(model.days)
      }),
    )
  })

  test('a minute window ends with the UTC minute, a day window with the UTC day', async () => {
    const key = freshName('key')
    await toNextMinute()
    const rates = { rpm: 1, rpd: 2 }
    const admit = () => limits().admit(key, rates, 'status')
    expect(await admit()).toMatchObject({
      outcome: 'admitted',
      state: { remainingMinute: 0, remainingDay: 1 },
    })
    await opened().clock.advance(minuteMs - 1)
    expect(await admit()).toMatchObject({ outcome: 'refused', exceeded: 'minute', retryAfterSeconds: 1 })
    await opened().clock.advance(1)
    expect(await admit()).toMatchObject({ outcome: 'admitted', state: { remainingDay: 0 } })
    // Both windows are full now: the window of the day ends last.
    const untilMidnight = dayMs - (now() % dayMs)
    expect(await admit()).toMatchObject({
      outcome: 'refused',
      exceeded: 'day',
      retryAfterSeconds: Math.ceil(untilMidnight / secondMs),
      state: { limitMinute: 1, limitDay: 2, resetMinute: (now() - (now() % minuteMs) + minuteMs) / secondMs },
    })
  })

  test('observe refuses no request and consumes nothing of the limit', async () => {
    const key = freshName('key')
    const rates = { rpm: 1, rpd: 1 }
    await toNextMinute()
    for (let i = 0; i < 3; i++)
      expect(await limits().observe(key, rates, 'config')).toMatchObject({ remainingDay: 1 })
    expect(await limits().admit(key, rates, 'config')).toMatchObject({ outcome: 'admitted' })
    expect(await limits().admit(key, rates, 'config')).toMatchObject({ outcome: 'refused' })
    expect(await limits().observe(key, rates, 'config')).toMatchObject({
      remainingMinute: 0,
      remainingDay: 0,
    })
    const [counters] = (await limits().usage(key, '1970-01-01', '9999-12-31')).values()
    expect(counters).toEqual({ ...noCounters, requests: 5, config: 5, rate_limited: 1 })
  })

  test('polls have two windows of their own, and count in the usage of the key', async () => {
    const key = freshName('key')
    const rates = { rpm: 1, rpd: 2 }
    await toNextMinute()
    expect(await limits().admit(key, rates, 'history')).toMatchObject({ outcome: 'admitted' })
    expect(await limits().poll(key, rates, 'history')).toMatchObject({
      outcome: 'admitted',
      state: { remainingMinute: 0, remainingDay: 1 },
    })
    expect(await limits().poll(key, rates, 'history')).toMatchObject({
      outcome: 'refused',
      exceeded: 'minute',
    })
    await toNextMinute()
    expect(await limits().poll(key, rates, 'history')).toMatchObject({ state: { remainingDay: 0 } })
    expect(await limits().poll(key, rates, 'history')).toMatchObject({ outcome: 'refused', exceeded: 'day' })
    expect(await limits().admit(key, rates, 'history')).toMatchObject({ state: { remainingDay: 0 } })
    const [counters] = (await limits().usage(key, '1970-01-01', '9999-12-31')).values()
    expect(counters).toEqual({ ...noCounters, requests: 4, history: 4, rate_limited: 2 })
  })

  test('after a limit was raised, earlier requests still count', async () => {
    const key = freshName('key')
    await toNextMinute()
    for (const outcome of ['admitted', 'admitted', 'refused'])
      expect(await limits().admit(key, { rpm: 2, rpd: 9 }, 'usage')).toMatchObject({ outcome })
    expect(await limits().admit(key, { rpm: 3, rpd: 9 }, 'usage')).toMatchObject({
      outcome: 'admitted',
      state: { limitMinute: 3, remainingMinute: 0, remainingDay: 6 },
    })
  })
}

function describeUsage(open: Open<'limits'>): void {
  const beforeMidnight = Date.UTC(2026, 0, 31, 23, 59, 58)
  const opened = openedOnce(() => open(beforeMidnight))
  const limits = () => opened().stores.limits
  const plenty = { rpm: 1_000, rpd: 1_000 }

  test('usage is stored per UTC day and key; days without usage are absent', async () => {
    const keys = ['__proto__', 'constructor', freshName('key')]
    const spend = async (times: number) => {
      for (const key of keys)
        for (let i = 0; i < times; i++) await limits().admit(key, plenty, endpoints[i % endpoints.length]!)
    }
    await spend(2)
    await opened().clock.advance(2 * secondMs)
    await spend(7)
    const [lastDay, firstDay]: [Day, Day] = ['2026-01-31', '2026-02-01']
    const two = { ...noCounters, requests: 2, history: 1, symbols: 1 }
    const seven = {
      ...noCounters,
      requests: 7,
      history: 2,
      symbols: 1,
      coverage: 1,
      status: 1,
      config: 1,
      usage: 1,
    }
    for (const key of keys) {
      const usage = (first: Day, last: Day) => limits().usage(key, first, last)
      expect(await usage('2026-01-01', '2026-03-01')).toEqual(
        new Map([
          [lastDay, two],
          [firstDay, seven],
        ]),
      )
      expect(await usage(lastDay, lastDay)).toEqual(new Map([[lastDay, two]]))
      expect(await usage(firstDay, '2026-02-09')).toEqual(new Map([[firstDay, seven]]))
      expect(await usage('2026-02-02', '2026-02-09')).toEqual(new Map())
    }
    expect(await limits().usage(freshName('key'), '2026-01-01', '2026-03-01')).toEqual(new Map())
  })
}

function describeRestarts(open: Open<'limits'>): void {
  const rates = { rpm: 1_000, rpd: 1_000 }
  const used = async (limits: Limits) => [...(await limits.usage('key', '1970-01-01', '9999-12-31')).values()]

  test('counters survive a restart', async () => {
    const before = await open()
    for (let i = 0; i < 5; i++) await before.stores.limits.admit('key', rates, 'history')
    const after = await before.reopen('closed')
    expect(await used(after.stores.limits)).toEqual([{ ...noCounters, requests: 5, history: 5 }])
    await after.stores.limits.observe('key', rates, 'config')
    expect(await used(after.stores.limits)).toEqual([{ ...noCounters, requests: 6, history: 5, config: 1 }])
    await after.close()
  })

  test('counters survive a kill, except for those of the last second', async () => {
    const before = await open()
    for (let i = 0; i < 5; i++) await before.stores.limits.admit('key', rates, 'history')
    await before.clock.advance(secondMs)
    for (let i = 0; i < 3; i++) await before.stores.limits.admit('key', rates, 'history')
    const after = await before.reopen('killed')
    const [counters] = await used(after.stores.limits)
    expect(counters?.requests).toBeGreaterThanOrEqual(5)
    expect(counters?.requests).toBeLessThanOrEqual(8)
    await after.close()
  })
}

/** The simplest model of two windows and the counters. */
class LimitsModel {
  readonly #rates: RateLimits
  readonly #admittedAt: number[] = []
  readonly days = new Map<Day, DailyCounters>()

  constructor(rates: RateLimits) {
    this.#rates = rates
  }

  admit(now: number) {
    const { remainingMinute, remainingDay } = this.state(now)
    if (remainingMinute > 0 && remainingDay > 0) {
      this.#admittedAt.push(now)
      return { outcome: 'admitted', state: this.state(now) }
    }
    const exceeded = remainingDay === 0 ? 'day' : 'minute'
    const windowMs = exceeded === 'day' ? dayMs : minuteMs
    const retryAfterSeconds = Math.ceil((windowMs - (now % windowMs)) / secondMs)
    return { outcome: 'refused', exceeded, retryAfterSeconds, state: this.state(now) }
  }

  state(now: number) {
    const usedOf = (windowMs: number) =>
      this.#admittedAt.filter((at) => Math.floor(at / windowMs) === Math.floor(now / windowMs)).length
    return {
      limitMinute: this.#rates.rpm,
      remainingMinute: this.#rates.rpm - usedOf(minuteMs),
      resetMinute: (Math.floor(now / minuteMs) + 1) * 60,
      limitDay: this.#rates.rpd,
      remainingDay: this.#rates.rpd - usedOf(dayMs),
    }
  }

  count(now: number, ...names: readonly (keyof DailyCounters)[]): void {
    const day = new Date(now).toISOString().slice(0, 10)
    const counters = { ...noCounters, ...this.days.get(day) }
    for (const name of names) counters[name] += 1
    this.days.set(day, counters)
  }
}

const anyLimits = fc.record({ rpm: fc.integer({ min: 1, max: 4 }), rpd: fc.integer({ min: 1, max: 8 }) })
const anyStep = fc.record({
  action: fc.constantFrom(
    'admit' as const,
    'admit' as const,
    'admit' as const,
    'observe' as const,
    'upgrade' as const,
    'wait' as const,
  ),
  endpoint: fc.constantFrom(...endpoints),
  ms: fc.constantFrom(1, 999, 20_000, minuteMs - 1, minuteMs),
})
