import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planScale, type ScaleState, type ShardUse } from './autoscale.ts'

const shards = (...connections: number[]): ShardUse[] =>
  connections.map((each) => ({ connections: each, subscriptions: 0 }))
const state = (more: Partial<ScaleState>): ScaleState => ({
  autoscale: {
    minReplicas: 1,
    maxReplicas: 10,
    targetConnections: 100,
    targetSubscriptions: 1_000,
    scaleDownAfterSeconds: 600,
  },
  connectionsMax: 1_000,
  replicas: 2,
  isPaused: false,
  loads: shards(100, 100),
  fewerNeeded: undefined,
  nowMs: 1_000_000,
  ...more,
})
const replicasOf = (more: Partial<ScaleState>): number => planScale(state(more)).replicas

describe('a plan for the number of shards', () => {
  test('keeps the number while the load is within a tenth of the target', () => {
    expect(replicasOf({ loads: shards(109, 109) })).toBe(2)
    expect(planScale(state({ loads: shards(91, 91) }))).toMatchObject({ replicas: 2, reason: 'Following' })
  })

  test('grows at once, by connections or by subscriptions, whichever needs more', () => {
    expect(replicasOf({ loads: shards(200, 250) })).toBe(5)
    expect(replicasOf({ loads: [{ connections: 0, subscriptions: 5_500 }, ...shards(0)] })).toBe(6)
  })

  test('grows before its shards are full, also with a target above their maximum', () => {
    const connectionsMax = 50
    expect(replicasOf({ connectionsMax, loads: shards(50, 50) })).toBe(3)
    expect(replicasOf({ connectionsMax, loads: shards(45, 44) })).toBe(3)
    expect(planScale(state({ connectionsMax, loads: shards(40, 40) }))).toMatchObject({
      replicas: 2,
      reason: 'Following',
    })
  })

  test('shrinks only when fewer sufficed for the whole time, and then to the maximum needed in it', () => {
    const loads = shards(10, 10)
    const first = planScale(state({ loads, replicas: 4 }))
    const since = { sinceMs: 1_000_000, seenMs: 1_000_000 }
    expect(first).toMatchObject({ replicas: 4, fewerNeeded: { ...since, shardsMax: 1 } })
    const busier = { loads: shards(150, 100), replicas: 4, fewerNeeded: first.fewerNeeded, nowMs: 1_060_000 }
    const busy = { sinceMs: 1_000_000, seenMs: 1_060_000, shardsMax: 3 }
    expect(planScale(state(busier))).toMatchObject({ replicas: 4, fewerNeeded: busy })
    const late = { loads, replicas: 4, fewerNeeded: { ...busy, seenMs: 1_590_000 }, nowMs: 1_600_000 }
    expect(planScale(state(late))).toMatchObject({ replicas: 3, fewerNeeded: undefined })
  })

  test('begins to wait again after a time without plans, such as while another replica led', () => {
    const fewerNeeded = { sinceMs: 1_000_000, seenMs: 1_500_000, shardsMax: 1 }
    const again = planScale(state({ loads: shards(10, 10), replicas: 4, fewerNeeded, nowMs: 1_600_000 }))
    expect(again).toMatchObject({ replicas: 4, fewerNeeded: { sinceMs: 1_600_000, shardsMax: 1 } })
  })

  test('while a shard does not answer, grows for the load of the others, and does not shrink', () => {
    const late = { sinceMs: 0, seenMs: 1_000_000, shardsMax: 1 }
    const light = state({ loads: [...shards(10), undefined], replicas: 4, fewerNeeded: late })
    expect(planScale(light)).toMatchObject({ replicas: 4, reason: 'MetricsMissing' })
    const busy = planScale(state({ loads: [...shards(900), undefined] }))
    expect(busy).toMatchObject({ replicas: 9, reason: 'Following' })
  })

  test('keeps the number before a shard has started, while paused, and at 0', () => {
    expect(planScale(state({ loads: [] }))).toMatchObject({ replicas: 2, reason: 'MetricsMissing' })
    const much = shards(900, 900)
    expect(planScale(state({ loads: much, isPaused: true }))).toMatchObject({ replicas: 2, reason: 'Paused' })
    expect(planScale(state({ loads: much, replicas: 0 }))).toMatchObject({
      replicas: 0,
      reason: 'ScaledToZero',
    })
  })

  test('reports when it is at a limit, and moves a pool within its limits at once', () => {
    expect(planScale(state({ loads: shards(900, 900) }))).toMatchObject({
      replicas: 10,
      reason: 'AtMaximum',
      message: 'The load needs 18 shards; maxReplicas is 10.',
    })
    expect(planScale(state({ loads: shards(0, 0), replicas: 20 })).replicas).toBe(10)
    const autoscale = { ...state({}).autoscale, minReplicas: 3 }
    expect(planScale(state({ autoscale }))).toMatchObject({ replicas: 3, reason: 'AtMinimum' })
  })
})

const anyState = fc.record({
  loads: fc.array(
    fc.option(fc.record({ connections: fc.nat(2_000), subscriptions: fc.nat(20_000) }), { nil: undefined }),
    { maxLength: 20 },
  ),
  replicas: fc.nat(20),
  isPaused: fc.boolean(),
  nowMs: fc.integer({ min: 1_000_000, max: 2_000_000 }),
  fewerNeeded: fc.option(
    fc.record({
      sinceMs: fc.nat(1_000_000),
      seenMs: fc.integer({ min: 940_000, max: 1_000_000 }),
      shardsMax: fc.integer({ min: 1, max: 10 }),
    }),
    {
      nil: undefined,
    },
  ),
})

test('a plan with a change stays within the limits, and one that shrinks requires answers of all shards', () => {
  fc.assert(
    fc.property(anyState, (more) => {
      const before = state(more)
      const { replicas } = planScale(before)
      if (replicas === before.replicas) return
      expect(replicas).toBeGreaterThanOrEqual(before.autoscale.minReplicas)
      expect(replicas).toBeLessThanOrEqual(before.autoscale.maxReplicas)
      if (replicas < before.replicas) expect(before.loads).not.toContain(undefined)
      expect(before.isPaused).toBe(false)
    }),
  )
})

test('more load never means fewer shards', () => {
  fc.assert(
    fc.property(anyState, fc.nat(5_000), (more, extra) => {
      const [first, ...others] = more.loads
      if (first === undefined) return
      const busier = { ...more, loads: [{ ...first, connections: first.connections + extra }, ...others] }
      // Within a tenth of the target nothing changes, so the lower limit includes the current number.
      const [a, b] = [planScale(state(more)), planScale(state(busier))]
      expect(b.replicas).toBeGreaterThanOrEqual(Math.min(a.replicas, more.replicas))
    }),
  )
})

test('under a constant load the number of shards is stable after two steps', () => {
  fc.assert(
    fc.property(fc.nat(2_000), fc.integer({ min: 1, max: 10 }), (connections, replicas) => {
      const late = { fewerNeeded: { sinceMs: 0, seenMs: 1_000_000, shardsMax: 1 } }
      const loads = [{ connections, subscriptions: 0 }]
      const once = replicasOf({ loads, replicas, ...late })
      const twice = replicasOf({ loads, replicas: once, ...late })
      expect(replicasOf({ loads, replicas: twice, ...late })).toBe(twice)
    }),
  )
})
