import { stat } from 'node:fs/promises'
import type { OpenFile } from './export/read-export.ts'

/** `anew`: it shrank, was replaced or its start changed, so all of it must be read again. */
export type Change = 'none' | 'anew' | 'appended'

export interface Fingerprint {
  readonly inode: number
  readonly size: number
  readonly modifiedMs: number
}

export interface ReadUntil {
  /** The file before the read began; `undefined`: it was missing. */
  readonly fingerprint: Fingerprint | undefined
  readonly offset: number
  /** Minimum size of the file, in bytes: a smaller file was replaced, or lost a whole line. */
  readonly sizeMin: number
}

/** Bytes at the start of a file, and before the read position, that are compared to detect another file. */
const comparedBytes = 512

export class FileChange {
  readonly #path: string
  readonly #openFile: OpenFile
  #read: ReadUntil = { fingerprint: undefined, offset: 0, sizeMin: 0 }
  #compared = ''

  constructor({ path, openFile }: { readonly path: string; readonly openFile: OpenFile }) {
    this.#path = path
    this.#openFile = openFile
  }

  async check(): Promise<Change | 'missing'> {
    const { fingerprint: before, offset, sizeMin } = this.#read
    const now = await this.fingerprint()
    if (now === undefined) return 'missing'
    if (before === undefined || now.inode !== before.inode || now.size < sizeMin) return 'anew'
    if (now.size === before.size && now.modifiedMs === before.modifiedMs) return 'none'
    return (await this.#bytesAround(offset)) === this.#compared ? 'appended' : 'anew'
  }

  /** Call it before the file is read from its start. If that read fails, a later change is `anew`. */
  restart(): void {
    this.#read = { ...this.#read, offset: 0 }
  }

  /** Call it before a read, for `wasRead` after it; `undefined`: the file is missing. */
  async fingerprint(): Promise<Fingerprint | undefined> {
    const found = await stat(this.#path).catch(() => undefined)
    return found?.isFile() ? { inode: found.ino, size: found.size, modifiedMs: found.mtimeMs } : undefined
  }

  async wasRead(until: ReadUntil): Promise<void> {
    this.#compared = await this.#bytesAround(until.offset)
    this.#read = until
  }

  /** Returns the first bytes of the file and those before the offset. */
  async #bytesAround(offset: number): Promise<string> {
    const length = Math.min(comparedBytes, offset)
    const file = await this.#openFile(this.#path)
    try {
      const head = await file.read(Buffer.alloc(length), 0, length, 0)
      const tail = await file.read(Buffer.alloc(length), 0, length, offset - length)
      return [head, tail].map(({ buffer, bytesRead }) => buffer.toString('latin1', 0, bytesRead)).join('')
    } finally {
      await file.close()
    }
  }
}
