import { type FileHandle, mkdtemp, open, rmdir, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fatal } from '../../../platform/process/exit.ts'
import { explained } from './inspect-file.ts'

export const standardInput = 'standard input'

/**
 * Calls `run` with a path of standard input's bytes, because an import reads its file several times. The bytes are
 * in a temporary file without a name, so no file is left however the import ends. Its only limit is the disk of
 * TMPDIR. Throws `Fatal` when that disk cannot store the bytes.
 */
export async function withStandardInput<T>(
  input: AsyncIterable<Uint8Array>,
  run: (path: string) => Promise<T>,
): Promise<T> {
  const file = await onDisk(openNameless)
  try {
    await explained(standardInput, async () => {
      for await (const bytes of input) await onDisk(() => file.appendFile(bytes))
    })
    return await run(`/dev/fd/${file.fd}`)
  } finally {
    await file.close()
  }
}

/** Opens a temporary file and removes its name, so that no file is left however the process ends. */
async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'fxd-import-'))
  const path = join(folder, 'bytes')
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  await rmdir(folder)
  return file
}

async function onDisk<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
    const reason = code === 'ENOSPC' ? 'has no space left' : `cannot be used (${code})`
    const kept = `Standard input is kept in ${tmpdir()}, which ${reason}`
    throw new Fatal('system', `${kept}; set TMPDIR to another folder.`, cause)
  }
}
