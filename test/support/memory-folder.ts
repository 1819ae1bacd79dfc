import type { SpoolFolder } from '../../services/collector/spool/folder.ts'

interface MemoryFile {
  /** What a loss of power leaves. */
  synced: Uint8Array
  bytes: Uint8Array
}

/** A folder that forgets in a crash what was not synced, and may forget that files were cut or removed. */
export class MemoryFolder implements SpoolFolder {
  readonly #files = new Map<string, MemoryFile>()
  /** Removed, and not yet for good. */
  readonly #ghosts = new Map<string, Uint8Array>()
  /** Writes until now. */
  writes = 0
  /** Called between writing and syncing; a rejection is one of the disk. */
  beforeSync: () => Promise<void> | void = () => undefined

  async list(): Promise<readonly string[]> {
    return [...this.#files.keys()]
  }

  async read(name: string, position: number, length: number): Promise<Uint8Array> {
    const file = this.#files.get(name)
    if (!file) throw new Error(`there is no file ${name}`)
    return file.bytes.slice(position, position + length)
  }

  async write(name: string, position: number, bytes: Uint8Array): Promise<void> {
    this.writes += 1
    const file = this.#files.get(name) ?? { synced: new Uint8Array(0), bytes: new Uint8Array(0) }
    this.#files.set(name, file)
    const grown = new Uint8Array(Math.max(file.bytes.length, position + bytes.length))
    grown.set(file.bytes)
    grown.set(bytes, position)
    file.bytes = grown
    await this.beforeSync()
    file.synced = file.bytes
  }

  async cut(name: string): Promise<void> {
    const file = this.#files.get(name)
    if (file) file.bytes = new Uint8Array(0)
  }

  async remove(name: string): Promise<void> {
    const file = this.#files.get(name)
    if (file) this.#ghosts.set(name, file.synced)
    this.#files.delete(name)
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  get names(): readonly string[] {
    return [...this.#files.keys()].sort()
  }

  /**
   * What the next life finds. `random` in `[0, 1)` decides how much of what was not synced is there,
   * and whether what was removed is back.
   */
  crash(random: () => number): MemoryFolder {
    const after = new MemoryFolder()
    const put = (name: string, bytes: Uint8Array): void =>
      void after.#files.set(name, { synced: bytes, bytes })
    for (const [name, bytes] of this.#ghosts) if (random() < 0.5) put(name, bytes)
    for (const [name, { synced, bytes }] of this.#files) {
      const isAppended = bytes.length > synced.length
      if (bytes === synced) put(name, bytes)
      else if (isAppended) {
        put(name, bytes.slice(0, synced.length + Math.floor(random() * (bytes.length - synced.length + 1))))
      } else put(name, random() < 0.5 ? synced : bytes)
    }
    return after
  }
}
