/** Bytes allocated at once: a few writes of a socket with 200 symbols. */
const chunkBytes = 65_536

/**
 * Memory for writes to sockets. A write that the kernel takes at once releases its memory for the next one, so most
 * bursts allocate nothing. Any other write keeps its memory until its bytes are sent.
 */
export class WriteMemory {
  #chunk = Buffer.allocUnsafeSlow(chunkBytes)
  /** Bytes taken from the chunk. */
  #taken = 0

  take(bytes: number): Buffer {
    if (bytes > chunkBytes) return Buffer.allocUnsafeSlow(bytes)
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
