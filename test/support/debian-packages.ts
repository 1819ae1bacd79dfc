import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'fxd')

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
  const folder = join(cache, `debian-${packages[0]}`)
  if (!existsSync(folder)) fetchInto(folder, packages, advice)
  const libraries = join(folder, 'usr/lib')
  const folders = existsSync(libraries) ? readdirSync(libraries).map((name) => join(libraries, name)) : []
  const fetched = { command: join(folder, path), env: { LD_LIBRARY_PATH: folders.join(':') } }
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

/** Made aside and moved into place whole: two test runs may begin at once, and one may be stopped. */
function fetchInto(folder: string, packages: readonly string[], advice: string): void {
  mkdirSync(cache, { recursive: true })
  const aside = mkdtempSync(join(cache, 'debian-'))
  try {
    const downloads = join(aside, 'downloads')
    mkdirSync(downloads)
    download(downloads, packages, advice)
    for (const file of readdirSync(downloads))
      if (file.endsWith('.deb')) run('dpkg-deb', ['-x', join(downloads, file), aside], aside, advice)
    rmSync(downloads, { recursive: true })
    renameSync(aside, folder)
  } catch (cause) {
    rmSync(aside, { recursive: true, force: true })
    if (!existsSync(folder)) throw cause
  }
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
