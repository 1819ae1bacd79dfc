import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

interface LockEntry {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
  readonly peer?: boolean
}

/** Packages with types only, which no program needs at run time. */
const isTypes = (path: string): boolean =>
  path.includes('node_modules/@types/') || path.endsWith('/undici-types')

export interface Package {
  /** Folder, such as `node_modules/ws`. */
  readonly path: string
  readonly name: string
  readonly version: string
}

/** The packages that production needs, by the lock file. */
export function productionPackages(root: string): readonly Package[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockEntry>>
  }
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && !isLeftOut(entry) && !isTypes(path))
    .map(([path, { version = '' }]) => ({
      path,
      name: path.slice(path.lastIndexOf(modules) + modules.length),
      version,
    }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

const modules = 'node_modules/'
const isLeftOut = ({ dev, optional, devOptional, peer }: LockEntry): boolean =>
  Boolean(dev || optional || devOptional || peer)

const unneededFolders = new Set([
  'node_modules',
  '.github',
  '__tests__',
  'benchmark',
  'benchmarks',
  'docs',
  'example',
  'examples',
  'test',
  'tests',
])
const unneededFiles =
  /\.development\.m?js$|\.(map|bare|ts|mts|cts|md|markdown|flow|html|tsbuildinfo)$|^\.(eslint|prettier|npmignore|editorconfig|travis|nycrc|taprc)/i
const licence = /^(licen[cs]e|notice|copying)/i

/**
 * Whether a file or folder of a package, by its path in the package, is needed to run it or to license it. False for
 * types, maps, tests, documents and binaries of another runtime.
 */
export function belongsToPackage(path: string, isFolder: boolean): boolean {
  // Only top-level folders: a nested one may be part of the program.
  if (isFolder) return !unneededFolders.has(path)
  return licence.test(basename(path)) || !unneededFiles.test(basename(path))
}

const unneededCode = /\.test\.ts$|^(baseline\.binpb|generate)$/

/** Whether a file of this repository is in the image. */
export const belongsToCode = (name: string): boolean => !unneededCode.test(name)
