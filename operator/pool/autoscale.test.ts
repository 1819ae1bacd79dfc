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
  replicas: 2,
  isPaused: false,
  held: shards(100, 100),
  low: undefined,
  nowMs: 1_000_000,
  ...more,
})
const replicasOf = (more: Partial<ScaleState>): number => planScale(state(more)).replicas

describe('a plan for the number of shards', () => {
  test('keeps the number while the load is within a tenth of the target', () => {
    expect(replicasOf({ held: shards(109, 109) })).toBe(2)
    expect(planScale(state({ held: shards(91, 91) }))).toMatchObject({ replicas: 2, reason: 'Following' })
  })

  test('grows at once, by connections or by subscriptions, whichever needs more', () => {
    expect(replicasOf({ held: shards(200, 250) })).toBe(5)
    expect(replicasOf({ held: [{ connections: 0, subscriptions: 5_500 }, ...shards(0)] })).toBe(6)
  })

  test('shrinks only when fewer sufficed for the whole time, and then to the maximum needed in it', () => {
    const held = shards(10, 10)
    const first = planScale(state({ held, replicas: 4 }))
    expect(first).toMatchObject({ replicas: 4, low: { sinceMs: 1_000_000, most: 1 } })
    const busier = { held: shards(150, 100), replicas: 4, low: first.low, nowMs: 1_300_000 }
    expect(planScale(state(busier))).toMatchObject({ replicas: 4, low: { sinceMs: 1_000_000, most: 3 } })
    const late = { held, replicas: 4, low: { sinceMs: 1_000_000, most: 3 }, nowMs: 1_600_000 }
    expect(planScale(state(late))).toMatchObject({ replicas: 3, low: undefined })
  })

  test('keeps the number while a shard does not answer, while paused, and at 0', () => {
    const held = [...shards(900), undefined]
    expect(planScale(state({ held }))).toMatchObject({ replicas: 2, reason: 'MetricsMissing' })
    expect(planScale(state({ held: [] }))).toMatchObject({ replicas: 2, reason: 'MetricsMissing' })
    const much = shards(900, 900)
    expect(planScale(state({ held: much, isPaused: true }))).toMatchObject({ replicas: 2, reason: 'Paused' })
    expect(planScale(state({ held: much, replicas: 0 }))).toMatchObject({
      replicas: 0,
      reason: 'ScaledToZero',
    })
  })

  test('reports when it is at a limit, and moves a pool within its limits at once', () => {
    expect(planScale(state({ held: shards(900, 900) }))).toMatchObject({
      replicas: 10,
      reason: 'AtMaximum',
      message: 'The load needs 18 shards; maxReplicas is 10.',
    })
    expect(planScale(state({ held: shards(0, 0), replicas: 20 })).replicas).toBe(10)
    const autoscale = { ...state({}).autoscale, minReplicas: 3 }
    expect(planScale(state({ autoscale }))).toMatchObject({ replicas: 3, reason: 'AtMinimum' })
  })
})

const anyState = fc.record({
  held: fc.array(
    fc.option(fc.record({ connections: fc.nat(2_000), subscriptions: fc.nat(20_000) }), { nil: undefined }),
    { maxLength: 20 },
  ),
  replicas: fc.nat(20),
  isPaused: fc.boolean(),
  nowMs: fc.integer({ min: 1_000_000, max: 2_000_000 }),
  low: fc.option(fc.record({ sinceMs: fc.nat(1_000_000), most: fc.integer({ min: 1, max: 10 }) }), {
    nil: undefined,
  }),
})

test('a plan with a change stays within the limits and requires answers of all shards', () => {
  fc.assert(
    fc.property(anyState, (more) => {
      const before = state(more)
      const { replicas } = planScale(before)
      if (replicas === before.replicas) return
      expect(replicas).toBeGreaterThanOrEqual(before.autoscale.minReplicas)
      expect(replicas).toBeLessThanOrEqual(before.autoscale.maxReplicas)
      expect(before.held).not.toContain(undefined)
      expect(before.isPaused).toBe(false)
    }),
  )
})

test('more load never means fewer shards', () => {
  fc.assert(
    fc.property(anyState, fc.nat(5_000), (more, extra) => {
      const [first, ...others] = more.held
      if (first === undefined) return
      const busier = { ...more, held: [{ ...first, connections: first.connections + extra }, ...others] }
      // Within a tenth of the target nothing changes, so the lower limit includes the current number.
      const [a, b] = [planScale(state(more)), planScale(state(busier))]
      expect(b.replicas).toBeGreaterThanOrEqual(Math.min(a.replicas, more.replicas))
    }),
  )
})

test('under a constant load the number of shards is stable after two steps', () => {
  fc.assert(
    fc.property(fc.nat(2_000), fc.integer({ min: 1, max: 10 }), (connections, replicas) => {
      const late = { low: { sinceMs: 0, most: 1 } }
      const held = [{ connections, subscriptions: 0 }]
      const once = replicasOf({ held, replicas, ...late })
      const twice = replicasOf({ held, replicas: once, ...late })
      expect(replicasOf({ held, replicas: twice, ...late })).toBe(twice)
    }),
  )
})
