import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Fatal } from '../platform/exit.ts'
import { openRegular } from '../platform/files/open-regular.ts'
import { fileReason } from '../platform/files/path-failures.ts'

const fileBytesMax = 1_048_576
const filesMax = 1_000
/** A folder of wrong files need not be told at length. */
const toldMax = 50

/** Everything that is wrong with the manifests, each fault with file, line, field and what would be right. */
export class ManifestsInvalid extends Fatal {
  readonly faults: readonly string[]
  constructor(path: string, faults: readonly string[]) {
    const told = faults.slice(0, toldMax)
    if (faults.length > toldMax) told.push(`… and ${faults.length - toldMax} more`)
    super('config', [`The Feed manifests of ${path} are invalid:`, ...told].join('\n  '))
    this.faults = faults
  }
}

/** The file itself, or the `.yaml` and `.yml` files of a folder by name; hidden ones are left out. */
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
