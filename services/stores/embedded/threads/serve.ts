import { parentPort } from 'node:worker_threads'
import { type AnswerMessage, type CallMessage, type Calls, columnBuffers } from './calls.ts'

/** The worker's side: answers calls one after the other, in the order in which they were made. */
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
