import { expect, onTestFinished, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../../../core/failure.ts'
import { silentLog } from '../../../platform/log/log.ts'
import { silenceMaxMs } from './silence.ts'
import { startThread, type Thread } from './thread.ts'

/** Source of a worker that can fail in each way; `begun` counts its starts in memory that survives its restarts. */
const body = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort, workerData } from 'node:worker_threads'
  const starts = new Int32Array(workerData.starts)
  if (Atomics.add(starts, 0, 1) + 1 === workerData.failingStart) throw new Error('no start today')
  const calls = {
    double: (number) => 2 * number,
    refuse: () => { throw new Error('disk full') },
    hang: () => Atomics.wait(starts, 1, 0),
    die: () => process.exit(3),
  }
  parentPort.on('message', ({ id, name, argument }) => {
    if (name === 'crash') throw new Error('a defect')
    try { parentPort.postMessage({ type: 'answer', id, value: calls[name](argument) }) }
    catch (cause) { parentPort.postMessage({ type: 'failure', id, reason: cause.message }) }
  })
  parentPort.postMessage({ type: 'ready' })
`)}`,
)

type BodyCalls = Record<'refuse' | 'hang' | 'die' | 'crash', (none: undefined) => void> & {
  readonly double: (number: number) => number
}

const deadlineMs = 2_000
const restartDelayMs = 100

async function start(failingStart = 0) {
  const clock = createVirtualClock()
  const starts = new Int32Array(new SharedArrayBuffer(8))
  const thread: Thread<BodyCalls> = await startThread({
    name: 'tested',
    body,
    workerData: { starts: starts.buffer, failingStart },
    deadlineMs,
    clock,
    log: silentLog,
  })
  onTestFinished(async () => {
    Atomics.notify(starts, 1)
    await thread.close()
  })
  return { thread, clock, starts }
}

const reasonOf = async (call: Promise<unknown>): Promise<string> => {
  const failure: unknown = await call.catch((cause: unknown) => cause)
  expect(failure).toBeInstanceOf(Unavailable)
  return String((failure as Unavailable).cause)
}

test('calls are answered, each with its own answer', async () => {
  const { thread } = await start()
  const numbers = [1, 2, 3, 4]
  expect(await Promise.all(numbers.map((number) => thread.call('double', number)))).toEqual([2, 4, 6, 8])
})

test('a call that fails in the thread is unavailable with the reason as its cause, and the thread continues', async () => {
  const { thread } = await start()
  expect(await reasonOf(thread.call('refuse', undefined))).toContain('disk full')
  expect(await thread.call('double', 2)).toBe(4)
})

test('a call that is not answered within its deadline is unavailable', async () => {
  const { thread, clock } = await start()
  const hung = reasonOf(thread.call('hang', undefined))
  const behind = reasonOf(thread.call('double', 2))
  await clock.advance(deadlineMs)
  expect(await hung).toContain('did not answer within 2000 ms')
  expect(await behind).toContain('did not answer within 2000 ms')
  expect(clock.pending).toBe(0)
})

test('a thread that hangs for 30 s is ended and restarted, and its calls fail', async () => {
  const { thread, clock, starts } = await start()
  const calls = [reasonOf(thread.call('hang', undefined))]
  for (let silentMs = deadlineMs; silentMs < silenceMaxMs; silentMs += deadlineMs) {
    await clock.advance(deadlineMs)
    expect(thread.alive).toBe(true)
    calls.push(reasonOf(thread.call('double', 1)))
  }
  await clock.advance(deadlineMs - 1)
  const last = reasonOf(thread.call('double', 1))
  await clock.advance(1)
  expect(thread.alive).toBe(false)
  expect(await last).toContain('did not answer for 30000 ms')
  for (const reason of await Promise.all(calls)) expect(reason).toContain('did not answer')
  await expect.poll(() => clock.pending).toBe(1)
  await clock.advance(restartDelayMs)
  await expect.poll(() => thread.alive).toBe(true)
  expect(await thread.call('double', 1)).toBe(2)
  expect(starts[0]).toBe(2)
})

test('an idle thread that misses one deadline is not restarted', async () => {
  const { thread, clock } = await start()
  expect(await thread.call('double', 1)).toBe(2)
  await clock.advance(silenceMaxMs)
  const hung = reasonOf(thread.call('hang', undefined))
  await clock.advance(deadlineMs)
  await hung
  expect(thread.alive).toBe(true)
})

test.for(['die', 'crash'] as const)(
  'a thread that ends (%s) fails its calls at once and is restarted',
  async (how) => {
    const { thread, clock, starts } = await start()
    const calls = [reasonOf(thread.call(how, undefined)), reasonOf(thread.call('hang', undefined))]
    for (const reason of await Promise.all(calls)) expect(reason).toContain('the tested thread ended')
    expect(thread.alive).toBe(false)
    expect(await reasonOf(thread.call('double', 1))).toContain('not running')
    await clock.advance(restartDelayMs)
    await expect.poll(() => thread.alive).toBe(true)
    expect(await thread.call('double', 1)).toBe(2)
    expect(starts[0]).toBe(2)
  },
)

test('a failed restart is retried after twice the delay', async () => {
  const { thread, clock, starts } = await start(2)
  await reasonOf(thread.call('die', undefined))
  await clock.advance(restartDelayMs)
  await expect.poll(() => clock.pending).toBe(1)
  expect([starts[0], thread.alive]).toEqual([2, false])
  await clock.advance(2 * restartDelayMs - 1)
  expect(clock.pending).toBe(1)
  await clock.advance(1)
  await expect.poll(() => thread.alive).toBe(true)
})

test('a failed first start rejects with its reason and is not retried', async () => {
  await expect(start(1)).rejects.toThrow('no start today')
})

test('a closed thread fails all calls and stays closed', async () => {
  const { thread, clock, starts } = await start()
  const hung = reasonOf(thread.call('hang', undefined))
  await thread.close()
  expect(await hung).toContain('ended')
  expect(await reasonOf(thread.call('double', 1))).toContain('not running')
  await clock.advance(60_000)
  expect(starts[0]).toBe(1)
})
