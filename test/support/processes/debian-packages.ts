import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cachedFolder } from './cached-folder.ts'

export interface FromPackages {
  readonly command: string
  /** Environment variables for its process. */
  readonly env: Readonly<Record<string, string>>
}

export interface ProgramWanted {
  /** The package of the program first, then packages with libraries that a minimal system lacks. */
  readonly packages: readonly [name: string, ...more: string[]]
  /** Path of the program in its package. */
  readonly path: string
  readonly versionArgs: readonly string[]
  /** Whether this output of `versionArgs` is an accepted version; default: every version. */
  readonly accepts?: (output: string) => boolean
  /** The advice of the error if the program is unavailable. */
  readonly advice: string
}

/**
 * A program of the system, or else from Debian packages, which are unpacked once into a cache outside the checkout.
 * Needs no root.
 */
export function programOf(wanted: ProgramWanted): FromPackages {
  const { packages, path, advice } = wanted
  const own: FromPackages = { command: path.split('/').at(-1) ?? path, env: {} }
  if (runs(own, wanted)) return own
  const folder = unpacked(packages, advice)
  const fetched = { command: join(folder, path), env: { LD_LIBRARY_PATH: librariesOf(folder) } }
  if (!runs(fetched, wanted)) throw new Error(`${packages[0]} of Debian does not run here: ${advice}.`)
  return fetched
}

function runs({ command, env }: FromPackages, { versionArgs, accepts }: ProgramWanted): boolean {
  try {
    const output = execFileSync(command, versionArgs, {
      env: { ...process.env, ...env },
      stdio: 'pipe',
      encoding: 'utf8',
    })
    return accepts?.(output) ?? true
  } catch {
    return false
  }
}

/** The cached folder with these unpacked Debian packages, named after the first. */
export const unpacked = (packages: readonly [string, ...string[]], advice: string): string =>
  cachedFolder(`debian-${packages[0]}`, (into) => {
    const downloads = join(into, 'downloads')
    mkdirSync(downloads)
    download(downloads, packages, advice)
    for (const file of readdirSync(downloads))
      if (file.endsWith('.deb')) run('dpkg-deb', ['-x', join(downloads, file), into], into, advice)
    rmSync(downloads, { recursive: true })
  })

/** LD_LIBRARY_PATH for the packages in a folder. */
export function librariesOf(folder: string): string {
  const libraries = join(folder, 'usr/lib')
  const names = existsSync(libraries) ? readdirSync(libraries) : []
  return names.map((name) => join(libraries, name)).join(':')
}

/** Downloads packages. If the package lists of the system are missing or old, it downloads separate lists first. */
function download(into: string, packages: readonly string[], advice: string): void {
  try {
    run('apt-get', ['download', ...packages], into, advice)
  } catch {
    const lists = join(into, 'lists')
    mkdirSync(join(lists, 'partial'), { recursive: true })
    const own = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${into}`, '-o', 'Debug::NoLocking=1']
    run('apt-get', [...own, 'update'], into, advice)
    run('apt-get', [...own, 'download', ...packages], into, advice)
  }
}

function run(command: string, args: readonly string[], cwd: string, advice: string): void {
  try {
    execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (cause) {
    const output = String((cause as { stderr?: Buffer }).stderr ?? '')
    throw new Error(`"${command}" failed; ${advice}.\n${output}`, { cause })
  }
}
