import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { Clock } from '../../../ports/clock.ts'
import type { IngestMessage } from '../../../wire/gen/fxd/v1/IngestMessage.ts'
import { Collector } from '../../../wire/load.ts'
import { SessionEnd } from '../../session-end.ts'
import { InOrder } from './in-order.ts'
import type { Received } from './receive.ts'
import { UnreadAnswers } from './unread-answers.ts'

/** Maximum messages that wait for a catalogue or for the start of the session; above it reading pauses. */
const waitingMax = 64

/** Maximum heartbeats and clock samples in this time; above it reading pauses until its end. */
const unansweredMax = 20
const unansweredMs = 100

const { responseSerialize } = Collector.service.Session

/** Answers are encoded before they wait, so that their bytes can be counted. */
export type CollectorCall = ServerDuplexStream<Received, Buffer>

/**
 * The gRPC stream of one collector. Messages are processed in order, and reading pauses while too many wait. They
 * also wait while the collector has too many unread answers.
 */
export class CollectorStream {
  readonly #call: CollectorCall
  readonly #clock: Pick<Clock, 'after'>
  readonly #queue: InOrder
  readonly #unread: UnreadAnswers
  #isThrottling = true
  #isWorkFull = false
  #isClosed = false
  #unanswered = 0
  readonly fail: (cause: unknown) => void
  /** Resolves when the collector has read all answers, or is disconnected. */
  readonly closed: Promise<void>

  constructor(call: CollectorCall, clock: Pick<Clock, 'after'>, fail: (cause: unknown) => void) {
    this.#call = call
    this.#clock = clock
    this.fail = fail
    this.closed = new Promise((resolve) => void call.once('close', resolve))
    this.#unread = new UnreadAnswers(
      clock,
      () => this.#pauseOrResume(),
      (why) => fail(new SessionEnd('RESOURCE_EXHAUSTED', why)),
    )
    // Messages that are never answered, such as heartbeats, may have paused reading.
    this.#queue = new InOrder(fail, () => this.#pauseOrResume())
  }

  /** Runs the work of a message after the work of all earlier messages, and while few answers are unread. */
  run(work: () => Promise<void> | void): void {
    this.#queue.run(() => (this.#unread.isFull ? this.#unread.room().then(work) : work()))
  }

  send(message: IngestMessage): void {
    if (this.#isClosed || this.#call.writableEnded || this.#call.destroyed) return
    const bytes = responseSerialize(message)
    this.#unread.sent(bytes.length)
    this.#call.write(bytes, () => this.#unread.read(bytes.length))
    if (this.#unread.isFull) this.#pauseOrResume()
  }

  /** Counts a heartbeat or a clock sample: they get no answer, so no acknowledgement limits their number. */
  noteUnanswered(): void {
    this.#unanswered += 1
    if (this.#unanswered > 1) return
    this.#clock.after(unansweredMs, () => {
      this.#unanswered = 0
      this.#pauseOrResume()
    })
  }

  /** Pauses or resumes reading. Backfill that arrives faster than it is stored waits in the collector. */
  throttle(isWorkFull: boolean): void {
    this.#isWorkFull = isWorkFull
    this.#pauseOrResume()
  }

  #pauseOrResume(): void {
    if (!this.#isThrottling) return
    const isFlooded = this.#unanswered > unansweredMax
    const isFull = isFlooded || this.#queue.length > waitingMax || this.#isWorkFull || this.#unread.isFull
    if (isFull && !this.#call.isPaused()) this.#call.pause()
    else if (!isFull && this.#call.isPaused()) this.#call.resume()
  }

  stopThrottling(): void {
    this.#isThrottling = false
  }

  /** Closes the stream with the status, or with OK. Does nothing to a destroyed stream. */
  close(end: SessionEnd | undefined): void {
    this.#isClosed = true
    if (this.#call.destroyed) return
    if (end) this.#call.emit('error', end.status)
    else this.#call.end()
  }

  /** Reports the status even on a destroyed stream. */
  cut(end: SessionEnd): void {
    this.#call.emit('error', end.status)
  }
}
