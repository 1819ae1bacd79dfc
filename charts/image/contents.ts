import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

interface LockEntry {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
  readonly peer?: boolean
}

/** Types, which nothing runs. */
const isTypes = (path: string): boolean =>
  path.includes('node_modules/@types/') || path.endsWith('/undici-types')

export interface Package {
  /** Its folder, such as `node_modules/ws`. */
  readonly path: string
  readonly name: string
  readonly version: string
}

/** What production needs of node_modules, by the lock file. */
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
  /\.(map|bare|ts|mts|cts|md|markdown|flow|html|tsbuildinfo)$|^\.(eslint|prettier|npmignore|editorconfig|travis|nycrc|taprc)/i
const licence = /^(licen[cs]e|notice|copying)/i

/**
 * Whether a file or folder of a package, from its root, runs on Node or must go with it: no types, maps, tests, documents
 * or binaries of another runtime.
 */
export function belongsToPackage(path: string, isFolder: boolean): boolean {
  // Deeper down such a folder may be part of the program.
  if (isFolder) return !unneededFolders.has(path)
  return licence.test(basename(path)) || !unneededFiles.test(basename(path))
}

const unneededCode = /\.test\.ts$|^(baseline\.binpb|generate)$/

/** Whether a file of ours goes into the image. */
export const belongsToCode = (name: string): boolean => !unneededCode.test(name)
