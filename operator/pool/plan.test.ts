import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Action, type Pool, planPool, type Shard } from './plan.ts'

const shard = (name: string, more: Partial<Shard> = {}): Shard => ({
  name,
  createdMs: 0,
  load: { connections: 10, isDraining: false, secondsLeft: 0 },
  isLost: false,
  isRefusing: false,
  isReady: true,
  isMarked: false,
  ...more,
})
const draining = (connections: number, secondsLeft = 30) => ({
  load: { connections, isDraining: true, secondsLeft },
})
const pool = (more: Partial<Pool>): Pool => ({
  wanted: 2,
  replicas: 2,
  isRollingOut: false,
  shards: [shard('a'), shard('b')],
  drainSeconds: 60,
  drainsMax: 1,
  ...more,
})

describe('a plan for a pool', () => {
  test('in its wanted state has no calls', () => {
    expect(planPool(pool({}))).toEqual([])
  })

  test('drains the shard with the fewest sockets first when fewer shards are wanted', () => {
    const shards = [shard('a'), shard('b', { load: { connections: 3, isDraining: false, secondsLeft: 0 } })]
    expect(planPool(pool({ wanted: 1, shards }))).toEqual([{ do: 'drain', shard: 'b', seconds: 60 }])
  })

  test('waits while a shard drains, marks it once it is empty, then shrinks the Deployment', () => {
    const at = (more: Partial<Shard>) => planPool(pool({ wanted: 1, shards: [shard('a'), shard('b', more)] }))
    expect(at(draining(4))).toEqual([])
    expect(at(draining(0))).toEqual([{ do: 'mark', shard: 'b', isMarked: true }])
    expect(at({ ...draining(0), isMarked: true })).toEqual([{ do: 'resize', replicas: 1 }])
  })

  test('marks a shard whose drain time is over, and a lost one', () => {
    for (const more of [draining(4, 0), { load: undefined, isLost: true }])
      expect(planPool(pool({ wanted: 1, shards: [shard('a'), shard('b', more)] }))).toEqual([
        { do: 'mark', shard: 'b', isMarked: true },
      ])
  })

  test('begins no drain while a shard misses answers, and then removes the lost shard', () => {
    const at = (more: Partial<Shard>) =>
      planPool(pool({ wanted: 1, shards: [shard('a', { load: undefined, ...more }), shard('b')] }))
    expect(at({})).toEqual([])
    expect(at({ isLost: true })).toEqual([{ do: 'mark', shard: 'a', isMarked: true }])
    const silent = shard('a', { load: undefined })
    expect(planPool(pool({ wanted: 0, replicas: 1, shards: [silent] }))).toEqual([])
  })

  test('drains another shard while one rejects the credentials', () => {
    const shards = [shard('a', { load: undefined, isRefusing: true }), shard('b')]
    expect(planPool(pool({ wanted: 1, shards }))).toEqual([{ do: 'drain', shard: 'b', seconds: 60 }])
  })

  test('does not drain the last healthy shard when a draining shard is lost', () => {
    const lost = { ...draining(4), isReady: false }
    const at = (more: Partial<Shard>) =>
      planPool(pool({ wanted: 1, shards: [shard('a'), shard('b', { ...lost, ...more })] }))
    expect(at({})).toEqual([])
    expect(at({ load: undefined })).toEqual([])
    expect(at({ load: undefined, isLost: true })).toEqual([{ do: 'mark', shard: 'b', isMarked: true }])
    expect(at({ load: undefined, isLost: true, isMarked: true })).toEqual([{ do: 'resize', replicas: 1 }])
  })

  test('shrinks the Deployment by pods that were never made, without draining any', () => {
    expect(planPool(pool({ wanted: 2, replicas: 4 }))).toEqual([{ do: 'resize', replicas: 2 }])
  })

  test('waits while a marked shard is ready and another is not', () => {
    const marked = shard('b', { ...draining(0), isMarked: true })
    const at = (full: Partial<Shard>, more: Partial<Shard>) =>
      planPool(pool({ wanted: 1, shards: [shard('a', full), { ...marked, ...more }] }))
    expect(at({ isReady: false }, { isReady: true })).toEqual([])
    const resize = [{ do: 'resize', replicas: 1 }]
    expect(at({ isReady: false }, { isReady: false })).toEqual(resize)
    expect(at({ isReady: true }, { isReady: true })).toEqual(resize)
  })

  test('removes shards in the documented order', () => {
    const load = (connections: number) => ({ load: { connections, isDraining: false, secondsLeft: 0 } })
    const order = [
      shard('marked', { ...draining(0), isMarked: true, isReady: false }),
      shard('draining', draining(9)),
      shard('lost', { load: undefined, isLost: true }),
      shard('few', { ...load(1), createdMs: 1 }),
      shard('young', { ...load(5), createdMs: 9 }),
      shard('old', { ...load(5), createdMs: 1 }),
    ]
    for (let leaving = 0; leaving <= order.length; leaving++) {
      // The Deployment has two replicas whose pods were never created.
      const [replicas, wanted] = [order.length + 2, order.length - leaving]
      const calls = planPool(pool({ wanted, replicas, shards: order.toReversed(), drainsMax: 9 }))
      const goes = (at: number): boolean => leaving > at
      expect(calls).toEqual([
        ...(goes(1) ? [] : [{ do: 'undrain', shard: 'draining' }]),
        ...(goes(0)
          ? []
          : [
              { do: 'mark', shard: 'marked', isMarked: false },
              { do: 'undrain', shard: 'marked' },
            ]),
        ...(goes(2) ? [{ do: 'mark', shard: 'lost', isMarked: true }] : []),
        ...['few', 'young', 'old'].flatMap((name, i) =>
          goes(3 + i) ? [{ do: 'drain', shard: name, seconds: 60 }] : [],
        ),
        { do: 'resize', replicas: goes(0) ? order.length - 1 : order.length },
      ])
    }
  })

  test('drains all leaving shards together, and longer when they are more than the allowed number', () => {
    const shards = ['a', 'b', 'c', 'd'].map((name) => shard(name))
    const secondsOf = (wanted: number, drainSeconds: number): number[] =>
      planPool(pool({ wanted, replicas: 4, shards, drainSeconds, drainsMax: 2 })).flatMap((call) =>
        call.do === 'drain' ? [call.seconds] : [],
      )
    expect(secondsOf(2, 60)).toEqual([60, 60])
    expect(secondsOf(1, 60)).toEqual([120, 120, 120])
    expect(secondsOf(0, 3_000)).toEqual([3_600, 3_600, 3_600, 3_600])
  })

  test('keeps draining shards before it makes new ones when more are wanted', () => {
    const shards = [shard('a'), shard('b', { ...draining(4), isMarked: true })]
    expect(planPool(pool({ wanted: 3, shards }))).toEqual([
      { do: 'mark', shard: 'b', isMarked: false },
      { do: 'undrain', shard: 'b' },
      { do: 'resize', replicas: 3 },
    ])
  })

  test('never shrinks while the Deployment replaces pods', () => {
    expect(planPool(pool({ wanted: 1, isRollingOut: true }))).toEqual([])
  })
})

test('a shard that Kubernetes is about to end gets no calls', () => {
  const ending = shard('b', { isMarked: true, ...draining(0) })
  expect(planPool(pool({ wanted: 1, replicas: 1, shards: [shard('a'), ending] }))).toEqual([])
})

/** A cluster that executes calls; shards start and end a little later. */
class Cluster {
  wanted: number
  replicas: number
  shards: Shard[]
  made: number
  endedWithSockets = 0

  constructor(wanted: number, sockets: readonly number[]) {
    this.wanted = wanted
    this.replicas = sockets.length
    this.made = sockets.length
    this.shards = sockets.map((connections, i) =>
      shard(`s${i}`, { createdMs: i, load: { connections, isDraining: false, secondsLeft: 0 } }),
    )
  }

  get pool(): Pool {
    return pool({ wanted: this.wanted, replicas: this.replicas, shards: this.shards, drainsMax: 2 })
  }

  act(call: Action): void {
    if (call.do === 'resize') this.replicas = call.replicas
    else
      this.shards = this.shards.map((each) => {
        if (each.name !== call.shard) return each
        if (call.do === 'mark') return { ...each, isMarked: call.isMarked }
        if (each.load === undefined) return each
        const load = {
          ...each.load,
          isDraining: call.do === 'drain',
          secondsLeft: call.do === 'drain' ? 3 : 0,
        }
        return { ...each, load }
      })
  }

  /** Simulates a second: draining shards close a part of their sockets. */
  pass(): void {
    this.#follow()
    this.shards = this.shards.map((before) => {
      // Draining and full shards are not ready.
      const isReady = !before.load?.isDraining && (before.load?.connections ?? 0) < 40
      const each = { ...before, isReady }
      if (!each.load?.isDraining) return each
      const secondsLeft = Math.max(0, each.load.secondsLeft - 1)
      const connections = secondsLeft === 0 ? 0 : Math.floor(each.load.connections / 2)
      return { ...each, load: { ...each.load, connections, secondsLeft } }
    })
  }

  #follow(): void {
    const { replicas } = this
    while (this.shards.length < replicas) this.shards.push(shard(`s${this.made++}`, { createdMs: this.made }))
    // Like a ReplicaSet: pods that are not ready first, marked ones first among them.
    const ended = this.shards
      .toSorted((a, b) => Number(a.isReady) - Number(b.isReady) || Number(b.isMarked) - Number(a.isMarked))
      .slice(0, Math.max(0, this.shards.length - replicas))
    for (const { load } of ended) if ((load?.connections ?? 0) > 0) this.endedWithSockets += 1
    this.shards = this.shards.filter((each) => !ended.includes(each))
  }
}

const servingOf = ({ shards }: Cluster): number =>
  shards.filter(({ isMarked, load }) => !isMarked && !load?.isDraining).length

test('after any changes and operator crashes a pool gets its wanted size and ends no shard with sockets', () => {
  const anySockets = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 8 })
  const anyChange = fc.record({
    wanted: fc.integer({ min: 0, max: 8 }),
    rounds: fc.integer({ min: 1, max: 8 }),
    /** Number of calls of each plan that the operator makes before it is killed. */
    callsUntilCrash: fc.integer({ min: 0, max: 5 }),
  })
  fc.assert(
    fc.property(anySockets, fc.array(anyChange, { minLength: 1, maxLength: 6 }), (sockets, changes) => {
      const cluster = new Cluster(sockets.length, sockets)
      const round = (callsMax: number): number => {
        const calls = planPool(cluster.pool)
        for (const call of calls.slice(0, callsMax)) {
          const [before, serving] = [cluster.replicas, servingOf(cluster)]
          cluster.act(call)
          // Each call moves towards the wanted number, not past it and not back.
          const [least, most] = [before, cluster.wanted].toSorted((a, b) => a - b)
          expect(cluster.replicas).toBeGreaterThanOrEqual(least ?? 0)
          expect(cluster.replicas).toBeLessThanOrEqual(most ?? 0)
          expect(servingOf(cluster)).toBeGreaterThanOrEqual(Math.min(serving, cluster.wanted))
        }
        cluster.pass()
        return calls.length
      }
      for (const { wanted, rounds, callsUntilCrash } of changes) {
        cluster.wanted = wanted
        for (let i = 0; i < rounds; i++) round(callsUntilCrash)
      }
      let rounds = 0
      while (round(Number.POSITIVE_INFINITY) > 0 || cluster.replicas !== cluster.wanted)
        expect(++rounds).toBeLessThan(100)
      expect(cluster.shards).toHaveLength(cluster.wanted)
      expect(cluster.shards.some(({ load, isMarked }) => isMarked || load?.isDraining)).toBe(false)
      expect(cluster.endedWithSockets).toBe(0)
    }),
  )
})
