import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { utcMs } from '../services/core/clocks/feed-clock.ts'
import { createVirtualClock } from '../test/support/fixtures/virtual-clock.ts'
import { unavailable } from './controller.ts'
import type { Condition, Outcome } from './kube/condition.ts'
import { StoreHealth, type StoreOutcomes } from './store-health.ts'
import { underStores } from './under-stores.ts'

const works = { storeFault: '', busFault: '' }
const broken = { storeFault: 'The store is away.', busFault: '' }
const away = (code: status) => Promise.reject(Object.assign(new Error('away'), { code }))

/** The health that ingest gives with these answers, one after another and 16 s apart. */
async function healthAfter(...answers: readonly (() => Promise<typeof works>)[]): Promise<StoreHealth> {
  const clock = createVirtualClock()
  const left = [...answers]
  const health = new StoreHealth(clock, () => (left.shift() as () => Promise<typeof works>)())
  while (left.length > 0) {
    await health.refresh()
    await clock.advance(16_000)
  }
  return health
}
const says = (health: StoreHealth): readonly (string | undefined)[] => [
  health.outcomes?.StoreAvailable?.reason,
  health.outcomes?.BusAvailable?.reason,
]
const answer = (given: typeof works) => () => Promise.resolve(given)
const unreachable = () => away(status.UNAVAILABLE)

test('store and bus are what ingest reports', async () => {
  expect(says(await healthAfter(answer(works)))).toEqual(['Available', 'Available'])
  expect(says(await healthAfter(answer(broken)))).toEqual(['StoreUnavailable', 'Available'])
  const health = await healthAfter(answer({ storeFault: '', busFault: 'away' }), answer(works))
  expect(says(health)).toEqual(['Available', 'Available'])
})

test('while ingest does not answer they stay, and after a minute they are unknown', async () => {
  const failures = (count: number) => Array.from({ length: count }, () => unreachable)
  expect(says(await healthAfter(answer(broken), ...failures(4)))).toEqual(['StoreUnavailable', 'Available'])
  const late = await healthAfter(answer(works), ...failures(5))
  expect(says(late)).toEqual(['IngestUnavailable', 'IngestUnavailable'])
  expect((await healthAfter(...failures(4))).outcomes).toBeUndefined()
})

test('an ingest that does not know the call says nothing about them', async () => {
  const health = await healthAfter(answer(broken), () => away(status.UNIMPLEMENTED))
  expect(health.outcomes).toEqual({})
})

const ready: Outcome = { status: 'True', reason: 'Serving', message: 'All shards are ready.' }
const invalid: Outcome = { status: 'False', reason: 'Invalid', message: 'a field is wrong' }
const waiting: Outcome = { status: 'False', reason: unavailable.reason, message: unavailable.message }
const outcomesOf = async (given: typeof works): Promise<StoreOutcomes | undefined> =>
  (await healthAfter(answer(given))).outcomes
const conditions = (
  outcome: Outcome,
  outcomes: StoreOutcomes | undefined,
  had: readonly Condition[] = [],
): readonly string[] =>
  underStores(outcome, outcomes, { generation: 1, had, nowMs: utcMs(0) }).map(
    ({ type, status: is, reason }) => `${type} ${is} ${reason}`,
  )

test.for([
  ['that is ready', ready, works, 'Ready True Serving'],
  ['that is ready', ready, broken, 'Ready False StoreUnavailable'],
  ['that waits for ingest', waiting, broken, 'Ready False StoreUnavailable'],
  ['that is invalid', invalid, broken, 'Ready False Invalid'],
] as const)('an object %s says what matters to its author', async ([, outcome, given, wanted]) => {
  const store = given === works ? 'True Available' : 'False StoreUnavailable'
  expect(conditions(outcome, await outcomesOf(given))).toEqual([
    wanted,
    `StoreAvailable ${store}`,
    'BusAvailable True Available',
  ])
})

test('an object keeps its conditions of store and bus until a new leader has asked ingest', async () => {
  const had = underStores(ready, await outcomesOf(broken), { generation: 1, had: [], nowMs: utcMs(0) })
  expect(conditions(ready, undefined, had)).toEqual([
    'Ready False StoreUnavailable',
    'StoreAvailable False StoreUnavailable',
    'BusAvailable True Available',
  ])
  expect(conditions(ready, undefined)).toEqual(['Ready True Serving'])
  expect(conditions(ready, {}, had)).toEqual(['Ready True Serving'])
})
