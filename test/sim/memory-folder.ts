import type { SpoolFolder } from '../../services/collector/spool/folder.ts'
import type { Chance } from './chance.ts'
import type { Life } from './timeline.ts'

/** The disk of one collector: what was written outlives it, what was being written may be torn. */
export class SimDisk {
  readonly #files = new Map<string, Uint8Array>()
  readonly #chance: Chance

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** The folder as one life sees it; `forgets`: a planted defect, writes that never reach the disk. */
  of(life: Life, forgets = false): SpoolFolder {
    const done = <T>(run: () => T): Promise<T> =>
      new Promise((resolve) => life.clock.after(this.#chance.next() * 3, () => resolve(run())))
    const bytesOf = (name: string): Uint8Array => this.#files.get(name) ?? new Uint8Array(0)
    return {
      list: () => done(() => [...this.#files.keys()]),
      read: (name, position, length) => done(() => bytesOf(name).slice(position, position + length)),
      write: (name, position, bytes) => {
        const whole = new Uint8Array(position + bytes.length)
        whole.set(bytesOf(name).subarray(0, position))
        whole.set(bytes, position)
        if (forgets) return done(() => undefined)
        // A life that ends before the answer leaves any part of it.
        this.#files.set(name, whole.slice(0, position + this.#chance.int(bytes.length)))
        return done(() => void this.#files.set(name, whole))
      },
      cut: (name) => done(() => void this.#files.set(name, new Uint8Array(0))),
      remove: (name) => done(() => void this.#files.delete(name)),
      close: () => Promise.resolve(),
    }
  }
}
