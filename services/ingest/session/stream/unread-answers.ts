import type { Cancel, Clock } from '../../../ports/clock.ts'

/** Maximum bytes of unread answers; above it the session's messages wait. */
const unreadBytesMax = 512 * 1024
/** Memory of an answer beside its bytes. Well-behaved collectors have some 200 small answers under way. */
const answerOverheadBytes = 512
/** Maximum time without a read answer while messages wait; then the session ends. */
const unreadMsMax = 60_000

/** The answers that the collector of one session has not read. */
export class UnreadAnswers {
  readonly #clock: Pick<Clock, 'after'>
  readonly #onRoom: () => void
  readonly #onStuck: (why: string) => void
  #bytes = 0
  /** Set while there are too many. */
  #room: PromiseWithResolvers<void> | undefined
  #cancelDeadline: Cancel = () => undefined

  /** `onRoom`: called when there are no longer too many. `onStuck`: called when there are too many and none is read. */
  constructor(clock: Pick<Clock, 'after'>, onRoom: () => void, onStuck: (why: string) => void) {
    this.#clock = clock
    this.#onRoom = onRoom
    this.#onStuck = onStuck
  }

  get isFull(): boolean {
    return this.#room !== undefined
  }

  async room(): Promise<void> {
    await this.#room?.promise
  }

  sent(bytes: number): void {
    this.#bytes += bytes + answerOverheadBytes
    if (this.#bytes <= unreadBytesMax || this.#room) return
    this.#room = Promise.withResolvers()
    this.#awaitRead()
  }

  read(bytes: number): void {
    this.#bytes -= bytes + answerOverheadBytes
    if (!this.#room) return
    this.#cancelDeadline()
    if (this.#bytes > unreadBytesMax) return this.#awaitRead()
    this.#room.resolve()
    this.#room = undefined
    this.#onRoom()
  }

  #awaitRead(): void {
    this.#cancelDeadline = this.#clock.after(unreadMsMax, () =>
      this.#onStuck(`the collector read no answer for ${unreadMsMax / 1_000} s`),
    )
  }
}
