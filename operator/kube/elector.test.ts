import fc from 'fast-check'
import { expect, test } from 'vitest'
import { silentLog } from '../../services/platform/log/log.ts'
import { createVirtualClock, type VirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { KubeError } from './api.ts'
import { Elector } from './elector.ts'
import type { KubeObject } from './object.ts'

/** The Lease in the API server. Calls may be delayed, or lost before or after they took effect. */
class LeaseStore {
  readonly #clock: VirtualClock
  #lease: KubeObject | undefined
  #version = 0

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  /** The API of one replica, with its outages and delays. */
  reached(by: { outage: 'none' | 'before' | 'after'; delayMs: number }) {
    const through = async <T>(act: () => T): Promise<T> => {
      await this.#clock.sleep(by.delayMs)
      if (by.outage === 'before') throw new Error('unreachable')
      const given = act()
      if (by.outage === 'after') throw new Error('the answer is lost')
      return given
    }
    const write = (lease: KubeObject, based: string | undefined): KubeObject => {
      if (this.#lease?.metadata.resourceVersion !== based) throw new KubeError(409, 'Conflict', 'conflict')
      const metadata = { ...lease.metadata, resourceVersion: String(++this.#version) }
      this.#lease = { ...lease, metadata }
      return this.#lease
    }
    return {
      get: <T extends KubeObject>() => through(() => this.#lease as T | undefined),
      create: <T extends KubeObject>(_: unknown, lease: T) => through(() => write(lease, undefined) as T),
      replace: <T extends KubeObject>(_: unknown, lease: T) =>
        through(() => write(lease, lease.metadata.resourceVersion) as T),
    }
  }
}

function start(clock: VirtualClock, store: LeaseStore, identity: string) {
  const network = { outage: 'none' as 'none' | 'before' | 'after', delayMs: 10 }
  const api = store.reached(network)
  const elector = new Elector({ api, identity, clock, log: silentLog, began: () => undefined })
  return { network, elector }
}

test('of two replicas one leads; after its clean stop the other leads within seconds', async () => {
  const clock = createVirtualClock()
  const store = new LeaseStore(clock)
  const replicas = ['a', 'b'].map((name) => start(clock, store, name))
  await clock.advance(5_000)
  const leading = replicas.filter(({ elector }) => elector.isLeader)
  expect(leading).toHaveLength(1)
  const ended = leading[0]?.elector.close()
  await clock.advance(4_000)
  await ended
  expect(replicas.filter(({ elector }) => elector.isLeader)).toHaveLength(1)
  expect(leading[0]?.elector.isLeader).toBe(false)
})

test('a leader that cannot renew its Lease stops before another leads, within one Lease duration', async () => {
  const clock = createVirtualClock()
  const store = new LeaseStore(clock)
  const first = start(clock, store, 'a')
  await clock.advance(1_000)
  const second = start(clock, store, 'b')
  await clock.advance(10_000)
  first.network.outage = 'before'
  await clock.advance(8_500)
  expect([first.elector.isLeader, second.elector.isLeader]).toEqual([false, false])
  await clock.advance(15_000)
  expect([first.elector.isLeader, second.elector.isLeader]).toEqual([false, true])
})

test('with delayed and lost calls at most one replica leads, and one leads after recovery', async () => {
  const anyStep = fc.record({
    who: fc.nat(2),
    outage: fc.constantFrom('none' as const, 'before' as const, 'after' as const),
    delayMs: fc.constantFrom(0, 10, 3_000),
    forMs: fc.integer({ min: 1, max: 20_000 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 12 }), async (steps) => {
      const clock = createVirtualClock()
      const store = new LeaseStore(clock)
      const replicas = ['a', 'b', 'c'].map((name) => start(clock, store, name))
      const leaders = (): number => replicas.filter(({ elector }) => elector.isLeader).length
      const pass = async (ms: number): Promise<void> => {
        for (let left = ms; left > 0; left -= 500) {
          await clock.advance(Math.min(500, left))
          expect(leaders()).toBeLessThanOrEqual(1)
        }
      }
      for (const { who, outage, delayMs, forMs } of steps) {
        Object.assign(replicas[who]?.network ?? {}, { outage, delayMs })
        await pass(forMs)
      }
      for (const { network } of replicas) Object.assign(network, { outage: 'none', delayMs: 10 })
      await pass(40_000)
      expect(leaders()).toBe(1)
    }),
    { numRuns: 30 },
  )
})

test('a removed annotation is hidden at once, and removed from the Lease with the next renewal', async () => {
  const clock = createVirtualClock()
  const store = new LeaseStore(clock)
  const { elector } = start(clock, store, 'a')
  await clock.advance(5_000)
  elector.annotate('one', 'yes')
  elector.annotate('two', 'yes')
  await clock.advance(5_000)
  elector.annotate('one', undefined)
  expect(elector.annotations).toEqual({ two: 'yes' })
  await clock.advance(5_000)
  const lease = store.reached({ outage: 'none', delayMs: 0 }).get()
  await clock.advance(1)
  expect((await lease)?.metadata.annotations).toEqual({ two: 'yes' })
})
