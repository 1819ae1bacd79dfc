import { stat } from 'node:fs/promises'
import { LayoutError } from '../../../collector/sources/mt5-csv/export/layout.ts'
import { fileReason } from '../../../platform/files/path-failures.ts'
import { Fatal } from '../../../platform/process/exit.ts'

export interface ImportedFile {
  readonly path: string
  /** The name that the person typed. */
  readonly name: string
}

export interface FileState {
  readonly bytes: number
  readonly modifiedMs: number
}

/** Throws `Fatal` with a sentence when there is no such file, or no regular one. */
export function inspectFile({ path, name }: ImportedFile): Promise<FileState> {
  return explained(name, async () => {
    const found = await stat(path)
    if (found.isDirectory())
      throw noInput(`${name} is a folder; import takes one file, and a feed's source can follow a folder.`)
    if (!found.isFile())
      throw noInput(`${name} is no regular file, which import reads twice; "-" reads standard input.`)
    return { bytes: found.size, modifiedMs: found.mtimeMs }
  })
}

/** Whether a file was written, or removed, since it was inspected. */
export async function hasChanged(path: string, { bytes, modifiedMs }: FileState): Promise<boolean> {
  const now = await stat(path).catch(() => undefined)
  return now?.size !== bytes || now.mtimeMs !== modifiedMs
}

export const changedMeanwhile = (name: string): Fatal =>
  noInput(`${name} changed while it was read; import it again.`)

export const noInput = (message: string, cause?: unknown): Fatal => new Fatal('noInput', message, cause)

/** Converts errors of the file system and of the layout to a sentence that names the file. */
export async function explained<T>(name: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    if (cause instanceof LayoutError)
      throw noInput(`${name} cannot be read as an export: ${cause.message}`, cause)
    const reason = fileReason(cause)
    if (reason === undefined) throw cause
    throw noInput(`${name} ${reason}.`, cause)
  }
}
