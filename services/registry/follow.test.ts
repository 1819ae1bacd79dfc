import { expect, test } from 'vitest'
import { feedBody, symbolBody, zero } from '../../test/support/fixtures/stream-fixture.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { compoundKey } from '../core/feeds/compound-key.ts'
import { createLog, silentLog } from '../platform/log/log.ts'
import type { RegistryRow } from '../ports/registry.ts'
import { embeddedBus } from '../stores/embedded/bus.ts'
import { followRegistry } from './follow.ts'

test('a row that becomes visible after a newer row is reported to listeners once', async () => {
  const clock = createVirtualClock()
  const rows: RegistryRow[] = [
    { ...feedBody(zero), version: 1 },
    { ...symbolBody(zero, 'SYM1'), version: 3 },
  ]
  const store = {
    since: (version: number) => Promise.resolve(rows.filter((row) => row.version > version)),
    append: () => Promise.resolve({ outcome: 'conflict' } as const),
  }
  const registry = followRegistry(store, embeddedBus(clock, silentLog), clock, silentLog)
  const heard: boolean[] = []
  registry.onChange((view) => heard.push(view.symbol(compoundKey(zero, 'SYM0')) !== undefined))
  await registry.refresh()
  rows.push({ ...symbolBody(zero, 'SYM0'), version: 2 })
  await registry.refresh()
  await registry.refresh()
  expect(heard).toEqual([false, true])
  registry.close()
})

test('an outage of the registry has an age, and is logged once when it begins and once when it ends', async () => {
  const clock = createVirtualClock()
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  })
  let isUnavailable = true
  const store = {
    since: () => (isUnavailable ? Promise.reject(new Error('refused')) : Promise.resolve([])),
    append: () => Promise.resolve({ outcome: 'conflict' } as const),
  }
  const registry = followRegistry(store, embeddedBus(clock, silentLog), clock, log)
  await clock.advance(10_000)
  expect(registry.ageMs).toBe(10_000)
  isUnavailable = false
  await clock.advance(10_000)
  expect(registry.ageMs).toBeLessThanOrEqual(2_000)
  expect(lines).toMatchObject([
    { msg: 'registry unavailable; continuing with the last version; retrying', err: { message: 'refused' } },
    { msg: 'registry available again', seconds: 10 },
  ])
  registry.close()
})

test('a store that was replaced voids the registry before, and listeners hear of it once', async () => {
  const clock = createVirtualClock()
  const store = {
    generation: 0,
    rows: [{ ...feedBody(zero), version: 57 }] as RegistryRow[],
    since: (version: number) => Promise.resolve(store.rows.filter((row) => row.version > version)),
    append: () => Promise.resolve({ outcome: 'conflict' } as const),
  }
  const registry = followRegistry(store, embeddedBus(clock, silentLog), clock, silentLog)
  await registry.refresh()
  const heard: (readonly [number, boolean, boolean])[] = []
  registry.onChange((view, isOther) => heard.push([view.version, view.feed(zero) !== undefined, isOther]))
  Object.assign(store, { generation: 1, rows: [] })
  await registry.refresh()
  await registry.refresh()
  store.rows.push({ ...feedBody(zero), version: 1 })
  await registry.refresh()
  expect(heard).toEqual([
    [0, false, true],
    [1, true, false],
  ])
  registry.close()
})
