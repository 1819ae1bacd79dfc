import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Folder outside the checkout for what is fetched or built once. */
export const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'fxd')

/**
 * The path of a cached folder outside the checkout, which `make` fills once. `make` fills a temporary folder, which is
 * then renamed: two test runs may start at once, and one may be stopped.
 */
export function cachedFolder(name: string, make: (into: string) => void): string {
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const aside = mkdtempSync(join(cache, `${name}-`))
  try {
    make(aside)
    renameSync(aside, folder)
  } catch (cause) {
    rmSync(aside, { recursive: true, force: true })
    if (!existsSync(folder)) throw cause
  }
  return folder
}
