import { onTestFinished } from 'vitest'
import { silentLog } from '../../services/platform/log/log.ts'
import type { Clock } from '../../services/ports/clock.ts'
import type { Calls } from '../../services/stores/embedded/threads/calls.ts'
import { startThread, type Thread } from '../../services/stores/embedded/threads/thread.ts'

/**
 * A real worker that does nothing but wait: each call stands until the test lets it through. `die` ends
 * it; an argument that says `refused` fails.
 */
const body = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from 'node:worker_threads'
    const permits = new Int32Array(workerData.permits)
    parentPort.on('message', ({ id, name, argument }) => {
      while (Atomics.load(permits, 0) <= 0) Atomics.wait(permits, 0, 0)
      Atomics.sub(permits, 0, 1)
      if (name === 'die') process.exit(1)
      const refused = JSON.stringify(argument ?? null).includes('refused')
      parentPort.postMessage(
        refused ? { type: 'failure', id, reason: 'refused' } : { type: 'answer', id, value: argument })
    })
    parentPort.postMessage({ type: 'ready' })
  `)}`,
)

export interface GatedThread<C extends Calls> {
  readonly thread: Thread<C>
  /** Arguments of all calls so far, in the order in which they reached the thread. */
  readonly seen: readonly { readonly name: string; readonly argument: unknown }[]
  /** Lets so many more calls through. */
  letThrough(calls: number): void
}

/** Its clock is the test's, so that deadlines and restarts are too. */
export async function startGatedThread<C extends Calls>(
  clock: Clock,
  deadlineMs: number,
): Promise<GatedThread<C>> {
  const permits = new Int32Array(new SharedArrayBuffer(4))
  const letThrough = (calls: number): void => {
    Atomics.add(permits, 0, calls)
    Atomics.notify(permits, 0)
  }
  const workerData = { permits: permits.buffer }
  const inner = await startThread<C>({ name: 'gated', body, workerData, deadlineMs, clock, log: silentLog })
  const seen: { name: string; argument: unknown }[] = []
  const thread: Thread<C> = {
    get alive() {
      return inner.alive
    },
    call(name, argument, handedOver) {
      seen.push({ name, argument: structuredClone(argument as unknown) })
      return inner.call(name, argument, handedOver)
    },
    close: () => inner.close(),
  }
  onTestFinished(async () => {
    letThrough(1_000_000)
    await inner.close()
  })
  return { thread, seen, letThrough }
}
