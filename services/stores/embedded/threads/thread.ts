import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { Unavailable } from '../../../core/failure.ts'
import { Backoff } from '../../../platform/backoff.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { Cancel, Clock } from '../../../ports/clock.ts'
import type { AnswerMessage, CallMessage, Calls } from './calls.ts'
import { PendingCalls } from './pending-calls.ts'
import { Silence, silenceMaxMs } from './silence.ts'

interface ThreadDeps {
  /** For logs and errors: `writer`, `reader 1`. */
  readonly name: string
  readonly body: URL
  readonly workerData: unknown
  readonly deadlineMs: number
  readonly clock: Clock
  readonly log: Log
}

/** A worker thread whose calls have names. It is restarted when it ends, and ended when it hangs. */
export interface Thread<C extends Calls> {
  readonly alive: boolean
  /** Rejects with `Unavailable` when the call fails, the thread ends or the deadline passes. */
  call<N extends keyof C & string>(
    name: N,
    argument: Parameters<C[N]>[0],
    handedOver?: ArrayBuffer[],
  ): Promise<ReturnType<C[N]>>
  /** Ends the thread; open calls fail. */
  close(): Promise<void>
}

/**
 * Flags of V8 for the heaps of workers. V8 reads them when it creates a heap, and the main thread has its heap already.
 * With the flags of `bin/node` instead, each worker would keep up to 48 MB of garbage.
 */
const youngGeneration = ['--min-semi-space-size=1', '--max-semi-space-size=2'] as const

const restartDelays = { firstMs: 100, maxMs: 5_000, jitter: 'none' } as const

/** Resolves once the worker is ready. When its first start fails, rejects with the error that it threw. */
export async function startThread<C extends Calls>(deps: ThreadDeps): Promise<Thread<C>> {
  const { name, clock, log } = deps
  const pending = new PendingCalls()
  const silence = new Silence(clock)
  let worker: Worker | undefined
  let nextId = 1
  const restarts = new Backoff(clock, restartDelays)
  let cancelRestart: Cancel | undefined
  let restarting: Promise<void> | undefined
  let ending: Promise<unknown> | undefined
  let closing = false

  const receive = (message: AnswerMessage): void => {
    restarts.reset()
    silence.answered()
    if (message.type === 'answer') pending.answer(message.id, message.value)
    else if (message.type === 'failure') pending.fail(message.id, message.reason)
  }
  const died = (cause: unknown): void => {
    worker = undefined
    silence.ended()
    pending.failAll(`the ${name} thread ended`)
    if (closing) return
    const restartDelayMs = restarts.nextMs()
    log.error({ err: cause, thread: name, restartDelayMs }, 'a thread ended; restarting')
    cancelRestart = clock.after(restartDelayMs, restart)
  }
  const restart = (): void => {
    restarting = spawn(deps, receive, died).then((ready) => {
      worker = ready
    }, died)
  }

  const endIfSilent = (): void => {
    if (worker === undefined || !silence.isTooLong) return
    log.error({ thread: name, silenceMaxMs }, 'a thread timed out; restarting')
    ending = worker.terminate()
    worker = undefined
    pending.failAll(`the ${name} thread did not answer for ${silenceMaxMs} ms`)
  }

  worker = await spawn(deps, receive, died)
  return {
    get alive() {
      return worker !== undefined && !closing
    },
    call(callName, argument, handedOver = []) {
      const port = worker
      if (port === undefined || closing) {
        return Promise.reject(new Unavailable('store', new Error(`the ${name} thread is not running`)))
      }
      return new Promise((resolve, reject) => {
        const id = nextId++
        const cancelDeadline = clock.after(deps.deadlineMs, () => {
          pending.fail(id, `the ${name} thread did not answer within ${deps.deadlineMs} ms`)
          endIfSilent()
        })
        pending.add(id, { resolve, reject, cancelDeadline })
        silence.asked()
        port.postMessage({ id, name: callName, argument } satisfies CallMessage, handedOver)
      })
    },
    async close() {
      closing = true
      cancelRestart?.()
      await restarting
      await ending
      await worker?.terminate()
    },
  }
}

/** Starts the worker and waits for its readiness. Afterwards `died` is called once when it ends. */
function spawn(
  { name, body, workerData }: ThreadDeps,
  receive: (message: AnswerMessage) => void,
  died: (cause: unknown) => void,
): Promise<Worker> {
  return new Promise((resolve, reject) => {
    let ready = false
    let cause: unknown
    for (const flag of youngGeneration) setFlagsFromString(flag)
    const worker = new Worker(body, { name, workerData })
    worker.on('message', (message: AnswerMessage) => {
      if (message.type !== 'ready') return receive(message)
      ready = true
      resolve(worker)
    })
    worker.on('error', (thrown: unknown) => {
      cause = thrown
    })
    worker.on('exit', (code) => {
      const end = cause instanceof Error ? cause : new Error(`the ${name} thread ended with code ${code}`)
      if (ready) died(end)
      else reject(end)
    })
  })
}
