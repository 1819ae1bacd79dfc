import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { IngestMessage } from '../../wire/gen/fxd/v1/IngestMessage.ts'
import { SessionEnd } from '../session-end.ts'
import { InOrder } from './in-order.ts'
import type { Received } from './receive.ts'

/** Maximum answers that the collector has not read; above it the session ends. */
const answersMax = 1_000
/** Maximum messages that wait for a catalogue or for the start of the session; above it reading pauses. */
const waitingMax = 64

export type CollectorCall = ServerDuplexStream<Received, IngestMessage>

/**
 * The gRPC stream of one collector. Messages are processed in order, and reading pauses while too many wait.
 * Unread answers are bounded.
 */
export class CollectorStream {
  readonly #call: CollectorCall
  readonly #queue: InOrder
  #isThrottling = true
  #isWorkFull = false
  /** Ends the session. */
  readonly fail: (cause: unknown) => void

  constructor(call: CollectorCall, fail: (cause: unknown) => void) {
    this.#call = call
    this.fail = fail
    // Messages that are never answered, such as heartbeats, may have paused reading.
    this.#queue = new InOrder(fail, () => this.throttle(this.#isWorkFull))
  }

  /** Runs the work of a message after the work of all earlier messages. */
  run(work: () => Promise<void> | void): void {
    this.#queue.run(work)
  }

  send(message: IngestMessage): void {
    if (this.#call.writableEnded || this.#call.destroyed) return
    this.#call.write(message)
    if (this.#call.writableLength > answersMax) {
      this.fail(new SessionEnd('RESOURCE_EXHAUSTED', `more than ${answersMax} answers were not read`))
    }
  }

  /** Pauses or resumes reading. Backfill that arrives faster than it is stored waits in the collector. */
  throttle(isWorkFull: boolean): void {
    this.#isWorkFull = isWorkFull
    if (!this.#isThrottling) return
    const isFull = this.#queue.length > waitingMax || isWorkFull
    if (isFull && !this.#call.isPaused()) this.#call.pause()
    else if (!isFull && this.#call.isPaused()) this.#call.resume()
  }

  /** Reading is neither paused nor resumed after this call. */
  stopThrottling(): void {
    this.#isThrottling = false
  }

  /** Closes the stream with the status, or with OK. Does nothing to a destroyed stream. */
  close(end: SessionEnd | undefined): void {
    if (this.#call.destroyed) return
    if (end) this.#call.emit('error', end.status)
    else this.#call.end()
  }

  /** Reports the status even on a destroyed stream. */
  cut(end: SessionEnd): void {
    this.#call.emit('error', end.status)
  }
}
