/** Bytes allocated at once: many writes of a socket with 200 symbols. */
const chunkBytes = 1_048_576
/** A larger write gets memory of its own: at most a quarter of a chunk that waits for a client is unused. */
const sharedBytesMax = chunkBytes / 4

/**
 * Memory for writes to sockets. A write that the kernel takes immediately releases its memory for the next one, so most
 * bursts allocate nothing. Any other write keeps its memory until its bytes are sent.
 */
export class WriteMemory {
  #chunk = Buffer.allocUnsafeSlow(chunkBytes)
  #taken = 0

  take(bytes: number): Buffer {
    if (bytes > sharedBytesMax) return Buffer.allocUnsafeSlow(bytes)
    if (this.#taken + bytes > chunkBytes) {
      this.#chunk = Buffer.allocUnsafeSlow(chunkBytes)
      this.#taken = 0
    }
    const start = this.#taken
    this.#taken += bytes
    return this.#chunk.subarray(start, this.#taken)
  }

  /** The memory may be taken again; only the newest one can. */
  release({ buffer, byteOffset, length }: Buffer): void {
    const isNewest = buffer === this.#chunk.buffer && byteOffset + length === this.#taken
    if (isNewest) this.#taken = byteOffset
  }
}
