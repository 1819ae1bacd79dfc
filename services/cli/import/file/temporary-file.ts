import { type FileHandle, mkdtemp, open, rmdir, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fatal } from '../../../platform/process/exit.ts'

/** Opens a temporary file and removes its name, so that no file is left however the process ends. */
export async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'fxd-import-'))
  const path = join(folder, 'bytes')
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  await rmdir(folder)
  return file
}

/** Runs an operation on the temporary file; throws `Fatal` with a sentence that begins with `use`. */
export async function onDisk<T>(use: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
    const reason = code === 'ENOSPC' ? 'has no space left' : `cannot be used (${code})`
    throw new Fatal('system', `${use} in ${tmpdir()}, which ${reason}; set TMPDIR to another folder.`, cause)
  }
}
