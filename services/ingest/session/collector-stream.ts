import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { IngestMessage } from '../../wire/gen/fxd/v1/IngestMessage.ts'
import { SessionEnd } from '../session-end.ts'
import { InOrder } from './in-order.ts'
import type { Received } from './receive.ts'

/** Maximum answers that the collector has not read; one more ends the session. */
const answersMax = 1_000
/** Maximum messages that wait for a catalogue or for the session to begin; reading pauses above it. */
const waitingMax = 64

export type CollectorCall = ServerDuplexStream<Received, IngestMessage>

/**
 * The gRPC stream of one collector: its messages are worked on in order, reading pauses while too many wait, and
 * answers are bounded.
 */
export class CollectorStream {
  readonly #call: CollectorCall
  readonly #inOrder: InOrder
  #isThrottling = true
  /** Ends the session. */
  readonly fail: (cause: unknown) => void

  constructor(call: CollectorCall, fail: (cause: unknown) => void) {
    this.#call = call
    this.fail = fail
    this.#inOrder = new InOrder(fail)
  }

  /** Runs work on a message after the work on all earlier ones. */
  run(work: () => Promise<void> | void): void {
    this.#inOrder.run(work)
  }

  send(message: IngestMessage): void {
    if (this.#call.writableEnded || this.#call.destroyed) return
    this.#call.write(message)
    if (this.#call.writableLength > answersMax) {
      this.fail(new SessionEnd('RESOURCE_EXHAUSTED', `more than ${answersMax} answers were not read`))
    }
  }

  /** Pauses or resumes reading. Backfill that arrives faster than it is stored waits in the collector, not here. */
  throttle(isWorkFull: boolean): void {
    if (!this.#isThrottling) return
    const isFull = this.#inOrder.length > waitingMax || isWorkFull
    if (isFull && !this.#call.isPaused()) this.#call.pause()
    else if (!isFull && this.#call.isPaused()) this.#call.resume()
  }

  /** From here on reading is neither paused nor resumed. */
  stopThrottling(): void {
    this.#isThrottling = false
  }

  /** Closes the stream with the status; without one as a success. */
  close(end: SessionEnd | undefined): void {
    if (this.#call.destroyed) return
    if (end) this.#call.emit('error', end.status)
    else this.#call.end()
  }

  /** Closes the stream with the status even when it is destroyed. */
  cut(end: SessionEnd): void {
    this.#call.emit('error', end.status)
  }
}
