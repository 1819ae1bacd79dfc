import { expect, test } from 'vitest'
import { silentLog } from '../../services/platform/log/log.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { WorkQueue } from './queue.ts'

function start(reconcile: (name: string, failingMs: number) => Promise<number | undefined>) {
  const clock = createVirtualClock()
  return { clock, queue: new WorkQueue(reconcile, clock, silentLog) }
}

test('a name that is added many times during another reconcile is reconciled once', async () => {
  const seen: string[] = []
  let finishFirst: () => void = () => undefined
  const { clock, queue } = start(async (name) => {
    seen.push(name)
    if (name === 'slow') await new Promise<void>((resolve) => (finishFirst = resolve))
    return undefined
  })
  queue.add('slow')
  for (let i = 0; i < 5; i++) queue.add('a')
  await clock.advance(0)
  expect(seen).toEqual(['slow'])
  finishFirst()
  await clock.advance(0)
  expect(seen).toEqual(['slow', 'a'])
})

test('an urgent name is reconciled before all waiting names, and only once', async () => {
  const seen: string[] = []
  const { clock, queue } = start(async (name) => {
    seen.push(name)
    if (name === '0') queue.add('30', true)
    return undefined
  })
  for (let i = 0; i < 40; i++) queue.add(String(i))
  queue.add('20', true)
  queue.add('20')
  expect(queue.size).toBe(40)
  await clock.advance(0)
  expect(seen.slice(0, 4)).toEqual(['20', '0', '30', '1'])
  expect(seen).toHaveLength(40)
})

test('a name that is added during its own reconcile is reconciled again', async () => {
  let count = 0
  const { clock, queue } = start(async (name) => {
    count += 1
    if (count === 1) queue.add(name)
    return undefined
  })
  queue.add('a')
  await clock.advance(0)
  expect(count).toBe(2)
})

test('failures are retried with growing delays, which a success resets', async () => {
  const at: number[] = []
  const { clock, queue } = start(async () => {
    at.push(clock.monotonicMs())
    if (at.length <= 3) throw new Error('not yet')
    return undefined
  })
  queue.add('a')
  await clock.advance(10_000)
  expect(at).toEqual([0, 1_000, 3_000, 7_000])
  expect(queue.size).toBe(0)
})

test('a reconcile gets the time since the first of the failures in a row', async () => {
  const failing: number[] = []
  const { clock, queue } = start(async (_, failingMs) => {
    failing.push(failingMs)
    if (failing.length !== 4) throw new Error('not yet')
    return 1_000
  })
  queue.add('a')
  await clock.advance(9_500)
  expect(failing).toEqual([0, 1_000, 3_000, 7_000, 0, 1_000])
})

test('a name is reconciled again after the time that its reconcile returned, but not after close', async () => {
  let count = 0
  const { clock, queue } = start(async () => {
    count += 1
    return 5_000
  })
  queue.add('a')
  await clock.advance(14_999)
  expect(count).toBe(3)
  await queue.close()
  await clock.advance(60_000)
  expect(count).toBe(3)
  expect(clock.pending).toBe(0)
})

test('close resolves once the running reconcile has ended', async () => {
  let finishFirst: () => void = () => undefined
  const { clock, queue } = start(() => new Promise((resolve) => (finishFirst = () => resolve(undefined))))
  queue.add('a')
  await clock.advance(0)
  let isClosed = false
  const closed = (async () => {
    await queue.close()
    isClosed = true
  })()
  await clock.advance(1_000)
  expect(isClosed).toBe(false)
  finishFirst()
  await closed
})
