import { describe, expect, onTestFinished, test } from 'vitest'
import { aKey } from '../../../test/support/fixtures/rest-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { type DailyCounters, type Day, noCounters } from '../../core/keys/usage.ts'
import { Registry } from '../../core/registry/registry.ts'
import { createLog } from '../../platform/log/log.ts'
import type { KeyDay } from '../../ports/usage-days.ts'
import { copyClosedDays } from './closed-days.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const counted = (requests: number): DailyCounters => ({ ...noCounters, requests })

/** The counters of the limits, and everything that was added to the store. */
function fixture(start: number, keys = 3) {
  const clock = createVirtualClock({ start })
  const registry = new Registry()
  for (let n = 1; n <= keys; n++)
    registry.apply({ kind: 'key', id: `key-${n}`, version: n, body: aKey(n, []) })
  const counters = new Map<string, Map<Day, DailyCounters>>()
  const added: (readonly KeyDay[])[] = []
  const logged: string[] = []
  const state = { isAway: false, isUnknown: false }
  const stop = copyClosedDays({
    clock,
    log: createLog('info', { write: (line) => void logged.push((JSON.parse(line) as { msg: string }).msg) }),
    registry: {
      view() {
        if (state.isUnknown) throw new Unavailable('registry')
        return registry
      },
    },
    limits: {
      async usage(keyId, first, last) {
        return new Map([...(counters.get(keyId) ?? [])].filter(([day]) => day >= first && day <= last))
      },
    },
    usageDays: {
      async add(days) {
        if (state.isAway) throw new Unavailable('store')
        added.push(days)
      },
    },
  })
  onTestFinished(stop)
  return { clock, counters, added, logged, state, stop }
}

const noon = Date.UTC(2026, 2, 1, 12)
const beforeMidnight = Date.UTC(2026, 2, 1, 23, 59, 30)

describe('usage of closed days', () => {
  test('is copied at the start and within a minute of UTC midnight, without the current day', async () => {
    const { clock, counters, added } = fixture(beforeMidnight)
    counters.set(
      'key-1',
      new Map([
        ['2026-02-28', counted(1)],
        ['2026-03-01', counted(2)],
      ]),
    )
    counters.set('key-3', new Map([['2026-03-01', counted(3)]]))
    await clock.advance(1)
    expect(added).toEqual([[{ keyId: 'key-1', day: '2026-02-28', counters: counted(1) }]])
    added.length = 0
    await clock.advance(90_000)
    expect(added).toEqual([
      [
        { keyId: 'key-1', day: '2026-02-28', counters: counted(1) },
        { keyId: 'key-1', day: '2026-03-01', counters: counted(2) },
        { keyId: 'key-3', day: '2026-03-01', counters: counted(3) },
      ],
    ])
    added.length = 0
    await clock.advance(20 * 60 * minuteMs)
    expect(added).toEqual([])
  })

  test('is copied again a day later, because counts may arrive late', async () => {
    const { clock, counters, added } = fixture(noon)
    counters.set('key-1', new Map([['2026-03-01', counted(5)]]))
    await clock.advance(dayMs)
    counters.set('key-1', new Map([['2026-03-01', counted(6)]]))
    await clock.advance(3 * dayMs)
    expect(added.flat().map(({ counters: { requests } }) => requests)).toEqual([5, 6])
  })

  test('is retried every minute while the store is unavailable, with one warning', async () => {
    const { clock, counters, added, logged, state } = fixture(beforeMidnight)
    await clock.advance(1)
    counters.set('key-2', new Map([['2026-03-01', counted(4)]]))
    state.isAway = true
    await clock.advance(30 * minuteMs)
    expect(added).toEqual([])
    expect(logged).toHaveLength(1)
    state.isAway = false
    await clock.advance(minuteMs)
    expect(added.flat()).toEqual([{ keyId: 'key-2', day: '2026-03-01', counters: counted(4) }])
  })

  test('is copied once the registry is loaded', async () => {
    const { clock, counters, added, state } = fixture(noon)
    state.isUnknown = true
    counters.set('key-1', new Map([['2026-02-28', counted(1)]]))
    await clock.advance(10 * minuteMs)
    expect(added).toEqual([])
    state.isUnknown = false
    await clock.advance(minuteMs)
    expect(added).toHaveLength(1)
  })

  test('of thousands of keys is copied in bounded parts, and a stop ends after the current part', async () => {
    const { clock, counters, added, stop } = fixture(noon, 3_000)
    for (let n = 1; n <= 3_000; n++) counters.set(`key-${n}`, new Map([['2026-02-28', counted(n)]]))
    await clock.advance(1)
    await expect.poll(() => added.flat().length).toBe(3_000)
    expect(Math.max(...added.map((piece) => piece.length))).toBeLessThanOrEqual(256)
    await stop()
    await clock.advance(2 * dayMs)
    expect(added.flat()).toHaveLength(3_000)
  })
})
