import { write } from 'node:fs'
import type { Clock } from '../../ports/clock.ts'

/** Maximum text that waits for the destination; further lines are dropped and counted. A single line may be longer. */
const waitingBytesMax = 4 * 1_048_576
const pieceBytesMax = 262_144
/** Retry delay while the pipe is full: its reader is slow or stopped. */
const fullRetryMs = 20
/** Retry delay after other failures: a full disk, a closed reader. */
const failedRetryMs = 1_000

interface LogWriterDeps {
  /** A pipe, socket or terminal in non-blocking mode, or a file. */
  readonly fd: number
  readonly clock: Clock
  readonly bytesMax?: number
  /** Called with the number of dropped lines once the destination accepts lines again. */
  readonly resumed: (lines: number) => void
}

/** Never blocks: what the descriptor does not accept is queued and retried. There is no place to report a failure. */
export class LogWriter {
  readonly #deps: LogWriterDeps
  readonly #bytesMax: number
  #lines: string[] = []
  /** The line being written; its rest is written first. */
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

  /** Resolves once everything is written; not while the destination accepts nothing. */
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
