import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cachedFolder } from './cached-folder.ts'

export interface FromPackages {
  readonly command: string
  /** For its process. */
  readonly env: Readonly<Record<string, string>>
}

export interface ProgramWanted {
  /** The program's own first, then what it links beyond a minimal system. */
  readonly packages: readonly [name: string, ...more: string[]]
  /** Where its package has it. */
  readonly path: string
  readonly versionArgs: readonly string[]
  /** Whether a version will do, by what it says; without this any will. */
  readonly accepts?: (said: string) => boolean
  /** What to do where it can be had in neither way. */
  readonly advice: string
}

/**
 * A program of the system, or else of Debian's packages, unpacked once into a cache outside the checkout;
 * needs no rights.
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
    const said = execFileSync(command, versionArgs, {
      env: { ...process.env, ...env },
      stdio: 'pipe',
      encoding: 'utf8',
    })
    return accepts?.(said) ?? true
  } catch {
    return false
  }
}

/** The folder with these packages of Debian, named after the first. */
export const unpacked = (packages: readonly [string, ...string[]], advice: string): string =>
  cachedFolder(`debian-${packages[0]}`, (into) => {
    const downloads = join(into, 'downloads')
    mkdirSync(downloads)
    download(downloads, packages, advice)
    for (const file of readdirSync(downloads))
      if (file.endsWith('.deb')) run('dpkg-deb', ['-x', join(downloads, file), into], into, advice)
    rmSync(downloads, { recursive: true })
  })

/** The LD_LIBRARY_PATH of what is unpacked there. */
export function librariesOf(folder: string): string {
  const libraries = join(folder, 'usr/lib')
  const names = existsSync(libraries) ? readdirSync(libraries) : []
  return names.map((name) => join(libraries, name)).join(':')
}

/** Lists of its own stand in where the system's are missing or old. */
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
    const said = String((cause as { stderr?: Buffer }).stderr ?? '')
    throw new Error(`"${command}" failed; ${advice}.\n${said}`, { cause })
  }
}
