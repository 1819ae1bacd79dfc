import { write } from 'node:fs'
import type { Clock } from '../../ports/clock.ts'

/** Text that waits for a destination that takes none; lines beyond are dropped and counted. One alone may be longer. */
const waitingBytesMax = 4 * 1_048_576
const pieceBytesMax = 262_144
/** A reader that is slow or stands still: its pipe is full. */
const fullRetryMs = 20
/** A full disk, or a reader that is gone. */
const failedRetryMs = 1_000

export interface LogWriterDeps {
  /** Of a pipe, a socket or a terminal in non-blocking mode, or of a file. */
  readonly fd: number
  readonly clock: Clock
  readonly bytesMax?: number
  /** Called with the number of dropped lines, once the destination takes lines again. */
  readonly resumed: (lines: number) => void
}

/**
 * Writes lines to a file descriptor and never waits for it: what it does not take stays in a bounded queue and
 * is tried again. A failure is no event: nobody could be told, and the process goes on.
 */
export class LogWriter {
  readonly #deps: LogWriterDeps
  readonly #bytesMax: number
  #lines: string[] = []
  /** What is being written; its rest is written first. */
  #piece: Buffer = Buffer.alloc(0)
  #bytes = 0
  #isWriting = false
  #droppedNow = 0
  #dropped = 0
  #emptied: (() => void)[] = []

  constructor(deps: LogWriterDeps) {
    this.#deps = deps
    this.#bytesMax = deps.bytesMax ?? waitingBytesMax
  }

  /** Lines dropped since the start. */
  get dropped(): number {
    return this.#dropped
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    const isFull = this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax
    if (this.#droppedNow > 0 || isFull) {
      this.#droppedNow += 1
      this.#dropped += 1
      return
    }
    this.#lines.push(line)
    this.#bytes += bytes
    if (!this.#isWriting) this.#writeNext()
  }

  /** Resolves once everything is written; never, while the destination takes nothing. */
  flush(): Promise<void> {
    if (this.#bytes === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#emptied.push(resolve))
  }

  #writeNext(): void {
    if (this.#piece.length === 0) this.#takePiece()
    this.#isWriting = this.#piece.length > 0
    if (this.#isWriting) write(this.#deps.fd, this.#piece, (error, bytes) => this.#written(error, bytes))
    else for (const resolve of this.#emptied.splice(0)) resolve()
  }

  #takePiece(): void {
    let bytes = 0
    let count = 0
    for (; count < this.#lines.length && bytes < pieceBytesMax; count += 1) {
      bytes += Buffer.byteLength(this.#lines[count] ?? '')
    }
    this.#piece = Buffer.from(this.#lines.splice(0, count).join(''))
  }

  #written(error: NodeJS.ErrnoException | null, bytes: number): void {
    if (error) {
      const delayMs = error.code === 'EAGAIN' ? fullRetryMs : failedRetryMs
      this.#deps.clock.after(delayMs, () => this.#writeNext())
      return
    }
    this.#piece = this.#piece.subarray(bytes)
    this.#bytes -= bytes
    if (this.#droppedNow > 0 && this.#bytes <= this.#bytesMax / 2) this.#resume()
    this.#writeNext()
  }

  #resume(): void {
    const lines = this.#droppedNow
    this.#droppedNow = 0
    this.#deps.resumed(lines)
  }
}
