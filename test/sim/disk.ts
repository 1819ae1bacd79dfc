import type { SpoolFolder } from '../../services/collector/spool/folder.ts'
import { MemoryFolder } from '../support/fixtures/memory-folder.ts'
import type { Chance } from './chance.ts'
import type { Life } from './timeline.ts'

/** The disk of one collector, slow: what was written outlives a life, what was being written may be torn. */
export class SimDisk {
  readonly #chance: Chance
  #folder = new MemoryFolder()

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** The folder as one life sees it; `forgets`: a planted defect, writes that never reach the disk. */
  of(life: Life, forgets = false): SpoolFolder {
    const folder = this.#folder.crash(() => this.#chance.next())
    this.#folder = folder
    const delay = (): Promise<void> =>
      new Promise((resolve) => void life.clock.after(this.#chance.next() * 3, resolve))
    folder.beforeSync = delay
    const done = <T>(run: () => Promise<T>): Promise<T> => delay().then(run)
    return {
      list: () => done(() => folder.list()),
      read: (name, position, length) => done(() => folder.read(name, position, length)),
      write: (name, position, bytes) => (forgets ? delay() : folder.write(name, position, bytes)),
      cut: (name) => done(() => folder.cut(name)),
      remove: (name) => done(() => folder.remove(name)),
      close: () => folder.close(),
    }
  }
}
