import { open, stat } from 'node:fs/promises'
import { type Layout, LayoutError, layoutOf } from '../../../collector/sources/mt5-csv/export/layout.ts'
import {
  type Detected,
  decoderOf,
  detectEncoding,
  withoutReturn,
} from '../../../collector/sources/mt5-csv/export/text.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { fileReason } from '../../../platform/files/path-failures.ts'
import { Fatal } from '../../../platform/process/exit.ts'

export interface ImportedFile {
  /** Path at which the file is read. */
  readonly path: string
  /** The name that the person typed. */
  readonly name: string
}

/** The properties of a file that are known before it is read. */
export interface FileShape extends Detected {
  readonly bytes: number
  readonly modifiedMs: number
  readonly layout: Layout
}

/** Bytes read to detect the layout; more than any first line of an export has. */
const headBytes = 64 * 1024
/** The first bytes of a gzip file. */
const gzipMark = [0x1f, 0x8b]

/** Detects encoding and layout of a file. Throws `Fatal` with a sentence when it is no export. */
export function inspectFile({ path, name }: ImportedFile, resolution: Resolution): Promise<FileShape> {
  return explained(name, async () => {
    const found = await stat(path)
    if (found.isDirectory()) {
      throw noInput(`${name} is a folder; import takes one file, and a feed's source can follow a folder.`)
    }
    if (!found.isFile())
      throw noInput(`${name} is no regular file, which import reads twice; "-" reads standard input.`)
    const head = await readHead(path)
    if (gzipMark.every((byte, i) => head[i] === byte))
      throw noInput(`${name} is compressed with gzip; unpack it, and import the file that is in it.`)
    const detected = detectEncoding(head)
    const text = decoderOf(detected.encoding)(head.subarray(detected.markBytes))
    const firstLine = text
      .split('\n')
      .map(withoutReturn)
      .find((line) => line.trim() !== '')
    if (firstLine === undefined) throw noInput(`${name} is empty; there is nothing to import.`)
    return {
      ...detected,
      bytes: found.size,
      modifiedMs: found.mtimeMs,
      layout: layoutOf(firstLine, resolution),
    }
  })
}

/** Whether a file was written, or removed, since it was inspected. */
export async function hasChanged(path: string, { bytes, modifiedMs }: FileShape): Promise<boolean> {
  const now = await stat(path).catch(() => undefined)
  return now?.size !== bytes || now.mtimeMs !== modifiedMs
}

export const changedMeanwhile = (name: string): Fatal =>
  noInput(`${name} changed while it was read; import it again.`)

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(headBytes), 0, headBytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const noInput = (message: string, cause?: unknown): Fatal => new Fatal('noInput', message, cause)

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
