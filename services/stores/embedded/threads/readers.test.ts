import { expect, test } from 'vitest'
import { startGatedThread } from '../../../../test/support/gated-thread.ts'
import { createVirtualClock } from '../../../../test/support/virtual-clock.ts'
import { Unavailable } from '../../../core/failure.ts'
import { createMetrics } from '../../../platform/metrics.ts'
import { measureThreads } from './measure.ts'
import type { ReaderCalls } from './reader.ts'
import { Readers, readDeadlineMs, readsWaitingMax } from './readers.ts'
import { WriteQueue } from './write-queue.ts'

async function start() {
  const clock = createVirtualClock()
  const startOne = () =>
    startGatedThread<ReaderCalls & { die: (none: undefined) => void }>(clock, readDeadlineMs)
  const gated = [await startOne(), await startOne()] as const
  return {
    clock,
    gated,
    readers: new Readers(
      gated.map(({ thread }) => thread),
      clock,
    ),
  }
}

const outcome = (read: Promise<unknown>): Promise<unknown> => read.catch((cause: unknown) => cause)

test('reads are shared: two under way at each reader, the others wait and go to whoever is free', async () => {
  const { gated, readers } = await start()
  const reads = Array.from({ length: 20 }, () => readers.call('ping', undefined))
  expect(gated.map(({ seen }) => seen.length)).toEqual([2, 2])
  gated[1].letThrough(18)
  await expect.poll(() => gated.map(({ seen }) => seen.length)).toEqual([2, 18])
  gated[0].letThrough(2)
  await Promise.all(reads)
})

test('a read that is not done within 2 s, its waiting included, is unavailable', async () => {
  const { clock, gated, readers } = await start()
  const early = Array.from({ length: 10 }, () => outcome(readers.call('ping', undefined)))
  await clock.advance(readDeadlineMs - 1)
  const late = Array.from({ length: 5 }, () => readers.call('ping', undefined))
  await clock.advance(1)
  for (const each of await Promise.all(early)) expect(each).toBeInstanceOf(Unavailable)
  for (const { letThrough } of gated) letThrough(100)
  await Promise.all(late)
  await expect.poll(() => clock.pending).toBe(0)
})

test('beyond the bound a read is refused at once instead of waiting in vain', async () => {
  const { clock, gated, readers } = await start()
  const underWay = 4
  const accepted = Array.from({ length: underWay + readsWaitingMax }, () => readers.call('ping', undefined))
  const refused = await outcome(readers.call('ping', undefined))
  expect(refused).toBeInstanceOf(Unavailable)
  expect(String((refused as Unavailable).cause)).toContain('1024 reads wait')
  const metrics = createMetrics({ ofProcess: false })
  measureThreads({ readers, queue: new WriteQueue(gated[0].thread as never, clock) }, metrics)
  // Twice: what is counted elsewhere is told anew at each scrape, not added.
  await metrics.render()
  const { text } = await metrics.render()
  expect(text).toContain('fxd_store_waiting{kind="read"} 1024')
  expect(text).toContain('fxd_store_refused_total{kind="read"} 1\n')
  for (const { letThrough } of gated) letThrough(2_000)
  await Promise.all(accepted)
})

test('while one reader is away the other answers; with none, reads are unavailable at once', async () => {
  const { gated, readers } = await start()
  const kill = async (i: 0 | 1): Promise<void> => {
    const died = outcome(gated[i].thread.call('die', undefined))
    gated[i].letThrough(1)
    expect(await died).toBeInstanceOf(Unavailable)
  }
  await kill(0)
  const reads = Array.from({ length: 6 }, () => readers.call('ping', undefined))
  gated[1].letThrough(6)
  await Promise.all(reads)
  await kill(1)
  expect(await outcome(readers.call('ping', undefined))).toBeInstanceOf(Unavailable)
})
