import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { lockFolder } from '../../platform/files/lock-folder.ts'
import type { SpoolFolder } from './folder.ts'

/** Only the user of this process may read the bars. */
const folderMode = 0o700
const fileMode = 0o600

/** Opens or creates a dedicated folder. Rejects when it cannot be used or another collector uses it. */
export async function openDiskFolder(path: string): Promise<SpoolFolder> {
  await makeLasting(resolve(path))
  return new DiskFolder(path, lockFolder(join(path, 'lock.db'), path))
}

/** Creates the folder and its parents so that they survive a loss of power. */
async function makeLasting(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: folderMode })
  // A folder that an earlier run created may not be on the disk yet.
  let made = path
  await syncFolder(dirname(made))
  while (first !== undefined && made !== first && dirname(made) !== made) {
    made = dirname(made)
    await syncFolder(dirname(made))
  }
}

/** Makes new entries of the folder survive a loss of power. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

class DiskFolder implements SpoolFolder {
  readonly #path: string
  readonly #unlock: () => void
  /** The file that is open for writing. */
  #open: { readonly name: string; readonly file: FileHandle } | undefined

  constructor(path: string, unlock: () => void) {
    this.#path = path
    this.#unlock = unlock
  }

  async list(): Promise<readonly string[]> {
    const entries = await readdir(this.#path, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  }

  async read(name: string, position: number, length: number): Promise<Uint8Array> {
    const file = await open(join(this.#path, name), 'r')
    try {
      const { size } = await file.stat()
      const bytes = new Uint8Array(Math.max(0, Math.min(length, size - position)))
      let done = 0
      while (done < bytes.length) {
        const { bytesRead } = await file.read(bytes, done, bytes.length - done, position + done)
        if (bytesRead === 0) break
        done += bytesRead
      }
      return bytes.subarray(0, done)
    } finally {
      await file.close()
    }
  }

  async write(name: string, position: number, bytes: Uint8Array): Promise<void> {
    const file = await this.#fileOf(name)
    let done = 0
    while (done < bytes.length) {
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
      done += bytesWritten
    }
    await file.datasync()
  }

  async truncate(name: string): Promise<void> {
    const file = await this.#fileOf(name)
    await file.truncate(0)
  }

  async remove(name: string): Promise<void> {
    if (this.#open?.name === name) await this.#closeFile()
    await rm(join(this.#path, name), { force: true })
  }

  async close(): Promise<void> {
    await this.#closeFile()
    this.#unlock()
  }

  async #closeFile(): Promise<void> {
    const file = this.#open?.file
    this.#open = undefined
    await file?.close()
  }

  async #fileOf(name: string): Promise<FileHandle> {
    if (this.#open?.name === name) return this.#open.file
    await this.#closeFile()
    const file = await this.#openOrMake(name)
    this.#open = { name, file }
    return file
  }

  async #openOrMake(name: string): Promise<FileHandle> {
    const path = join(this.#path, name)
    try {
      return await open(path, 'r+')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    }
    const file = await open(path, 'wx+', fileMode)
    await syncFolder(this.#path)
    return file
  }
}
