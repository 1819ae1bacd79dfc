import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../../services/platform/log/log.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { KubeError, type WatchEvent, type WatchListener } from './api.ts'
import type { KubeObject } from './object.ts'
import { Reflector } from './reflector.ts'
import { resources } from './resources.ts'

/** A reflector with the test's watches, and the times at which it opened them. */
function start(watch: (listener: WatchListener<KubeObject>) => Promise<void>) {
  const clock = createVirtualClock()
  const seen = { watches: [] as number[], lists: 0 }
  const api = {
    list: async () => {
      seen.lists += 1
      return { items: [], version: '1' }
    },
    watch: (_: unknown, __: string, listener: WatchListener<KubeObject>) => {
      seen.watches.push(clock.monotonicMs())
      return watch(listener)
    },
  }
  const deps = { api: api as never, clock, log: silentLog, changed: () => undefined, failed: () => undefined }
  const reflector = new Reflector(resources.feeds, deps)
  onTestFinished(() => reflector.close())
  const pauses = (): number[] => seen.watches.slice(1).map((at, i) => at - (seen.watches[i] ?? 0))
  return { clock, seen, reflector, pauses }
}

const bookmark = { type: 'BOOKMARK', object: { metadata: { name: '' } } } as WatchEvent<KubeObject>

test('while watches are rejected, the pauses between them grow to at most eight seconds plus a half', async () => {
  const { clock, pauses } = start(() => Promise.reject(new Error('connection refused')))
  await clock.advance(60_000)
  expect(pauses().length).toBeLessThan(20)
  expect(Math.max(...pauses())).toBeGreaterThan(4_000)
  expect(Math.max(...pauses())).toBeLessThanOrEqual(12_000)
})

test('after a watch with an event the next one opens soon, despite earlier failures', async () => {
  let isWell = false
  const { clock, seen } = start(async ({ opened, received }) => {
    if (isWell) {
      opened()
      received(bookmark)
    }
    throw new Error('connection reset')
  })
  await clock.advance(60_000)
  isWell = true
  await clock.advance(12_000)
  const had = seen.watches.length
  await clock.advance(3_000)
  expect(seen.watches.length).toBeGreaterThanOrEqual(had + 3)
})

test('while the server has no known version, lists are repeated with growing pauses', async () => {
  const { clock, seen } = start(async ({ opened }) => {
    opened()
    throw new KubeError(410, 'Expired', 'too old resource version')
  })
  await clock.advance(60_000)
  expect(seen.lists).toBeGreaterThan(5)
  expect(seen.lists).toBeLessThan(20)
})

test('a cache is in sync only while its watch is open', async () => {
  let end: (cause: Error) => void = () => undefined
  const { clock, reflector } = start(({ opened }) => {
    opened()
    return new Promise((_, reject) => void (end = reject))
  })
  await clock.advance(1)
  expect(reflector.isSynced).toBe(true)
  end(new Error('the watch timed out'))
  await clock.advance(1)
  expect(reflector.isSynced).toBe(false)
})
