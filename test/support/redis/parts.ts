import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const majorMin = 7
const advice = `install Redis ${majorMin} or newer (Debian: "apt-get install redis-server", macOS: "brew install redis")`
/** The server and what it links beyond a minimal system. */
const debianPackages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1']

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'fxd')

export interface RedisParts {
  readonly server: string
  /** For the server's process. */
  readonly env: Readonly<Record<string, string>>
}

/** The system's own server, or the one of Debian's packages, fetched once into a cache outside the checkout. */
export function redisParts(): RedisParts {
  const own: RedisParts = { server: 'redis-server', env: {} }
  if (runs(own)) return own
  const folder = join(cache, 'redis-debian')
  if (!existsSync(folder)) fetchDebian(folder)
  const libraries = readdirSync(join(folder, 'usr/lib')).map((name) => join(folder, 'usr/lib', name))
  const fetched = {
    server: join(folder, 'usr/bin/redis-server'),
    env: { LD_LIBRARY_PATH: libraries.join(':') },
  }
  if (!runs(fetched)) throw new Error(`The Redis of Debian's packages does not run here: ${advice}.`)
  return fetched
}

function runs({ server, env }: RedisParts): boolean {
  try {
    const text = execFileSync(server, ['--version'], {
      env: { ...process.env, ...env },
      stdio: 'pipe',
      encoding: 'utf8',
    })
    return Number(/v=(\d+)/.exec(text)?.[1] ?? 0) >= majorMin
  } catch {
    return false
  }
}

/** Made aside and moved into place whole: two test runs may begin at once, and one may be stopped. */
function fetchDebian(folder: string): void {
  mkdirSync(cache, { recursive: true })
  const aside = mkdtempSync(join(cache, 'redis-debian-'))
  try {
    const downloads = join(aside, 'downloads')
    mkdirSync(downloads)
    download(downloads)
    for (const file of readdirSync(downloads))
      if (file.endsWith('.deb')) run('dpkg-deb', ['-x', join(downloads, file), aside], aside)
    rmSync(downloads, { recursive: true })
    renameSync(aside, folder)
  } catch (cause) {
    rmSync(aside, { recursive: true, force: true })
    if (!existsSync(folder)) throw cause
  }
}

/** Needs no rights: lists of its own stand in where the system's are missing or old. */
function download(into: string): void {
  try {
    run('apt-get', ['download', ...debianPackages], into)
  } catch {
    const lists = join(into, 'lists')
    mkdirSync(join(lists, 'partial'), { recursive: true })
    const own = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${into}`, '-o', 'Debug::NoLocking=1']
    run('apt-get', [...own, 'update'], into)
    run('apt-get', [...own, 'download', ...debianPackages], into)
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  try {
    execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (cause) {
    const said = String((cause as { stderr?: Buffer }).stderr ?? '')
    throw new Error(`"${command}" failed; ${advice}.\n${said}`, { cause })
  }
}
