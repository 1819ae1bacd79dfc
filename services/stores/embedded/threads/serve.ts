import { parentPort } from 'node:worker_threads'
import { type AnswerMessage, type CallMessage, type Calls, columnBuffers } from './calls.ts'

/** Runs in the worker: answers calls one after another, in their order. */
export function serve(calls: Calls): void {
  const port = parentPort
  if (port === null) throw new Error('This file is the body of a worker thread.')
  const answer = (message: AnswerMessage, handedOver: ArrayBuffer[] = []): void =>
    port.postMessage(message, handedOver)

  port.on('message', ({ id, name, argument }: CallMessage) => {
    try {
      const value = (calls[name] as (given: unknown) => unknown)(argument)
      answer({ type: 'answer', id, value }, columnBuffers(value))
    } catch (cause) {
      answer({ type: 'failure', id, reason: cause instanceof Error ? cause.message : String(cause) })
    }
  })
  answer({ type: 'ready' })
}
