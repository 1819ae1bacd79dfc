import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openRegular } from '../platform/files/open-regular.ts'
import { fileReason } from '../platform/files/path-failures.ts'
import { Fatal } from '../platform/process/exit.ts'

/** Maximum bytes of a manifest file; a larger one is a fault. */
const fileBytesMax = 1_048_576
/** Maximum files in the folder; more are a fault. */
const filesMax = 1_000
/** Maximum faults in the message; further ones are counted. */
const shownMax = 50

/** All faults of the manifests, each with file, line, field and the wanted value. */
export class ManifestsInvalid extends Fatal {
  readonly faults: readonly string[]
  constructor(path: string, faults: readonly string[]) {
    const shown = faults.slice(0, shownMax)
    if (faults.length > shownMax) shown.push(`… and ${faults.length - shownMax} more`)
    super('config', [`The Feed manifests of ${path} are invalid:`, ...shown].join('\n  '))
    this.faults = faults
  }
}

/** The file itself, or the `.yaml` and `.yml` files of a folder in order of name, without hidden files. */
export async function manifestFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = (await readdir(path)).filter((name) => /^[^.].*\.ya?ml$/.test(name)).sort()
    if (names.length > 0 && names.length <= filesMax) return names.map((name) => join(path, name))
    const got = names.length === 0 ? 'no .yaml file' : `${names.length} .yaml files`
    throw new ManifestsInvalid(path, [`${path}: got ${got}, wanted 1 to ${filesMax}`])
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/** Reads a manifest file; throws `ManifestsInvalid` if it is too large, `Fatal` if it cannot be read. */
export async function readManifestFile(file: string): Promise<string> {
  try {
    await using opened = await openRegular(file)
    const { size } = await opened.stat()
    if (size <= fileBytesMax) return await opened.readFile('utf8')
    throw new ManifestsInvalid(file, [`${file}: got ${size} bytes, wanted at most ${fileBytesMax}`])
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

const unreadable = (path: string, cause: unknown): unknown =>
  cause instanceof Fatal
    ? cause
    : new Fatal(
        'noInput',
        `The Feed manifests are looked for at ${path} (FXD_FEEDS), which ${fileReason(cause) ?? `cannot be read: ${(cause as Error).message}`}.`,
        cause,
      )
