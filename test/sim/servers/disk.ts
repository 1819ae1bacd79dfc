import type { SpoolFolder } from '../../../services/collector/spool/folder.ts'
import { MemoryFolder } from '../../support/fixtures/memory-folder.ts'
import type { Chance } from '../runtime/chance.ts'
import type { SimProcess } from '../runtime/timeline.ts'

/** The slow disk of one collector. Synced data survives a kill; a write in progress may be torn. */
export class SimDisk {
  readonly #chance: Chance
  #folder = new MemoryFolder()

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** The folder for one process; `forgets`: a planted defect, writes never reach the disk. */
  of(process: SimProcess, forgets = false): SpoolFolder {
    const folder = this.#folder.crash(() => this.#chance.next())
    this.#folder = folder
    const delay = (): Promise<void> =>
      new Promise((resolve) => void process.clock.after(this.#chance.next() * 3, resolve))
    folder.beforeSync = delay
    const done = <T>(run: () => Promise<T>): Promise<T> => delay().then(run)
    return {
      list: () => done(() => folder.list()),
      read: (name, position, length) => done(() => folder.read(name, position, length)),
      write: (name, position, bytes) => (forgets ? delay() : folder.write(name, position, bytes)),
      truncate: (name) => done(() => folder.truncate(name)),
      remove: (name) => done(() => folder.remove(name)),
      close: () => folder.close(),
    }
  }
}
