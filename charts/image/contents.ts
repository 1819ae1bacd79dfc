import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

interface LockEntry {
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
  readonly peer?: boolean
}

/** Types, which nothing runs. */
const isTypes = (path: string): boolean =>
  path.includes('node_modules/@types/') || path.endsWith('/undici-types')

/** Folders of packages that production needs, such as `node_modules/ws`. */
export function productionPackages(root: string): readonly string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockEntry>>
  }
  return Object.entries(lock.packages)
    .filter(
      ([path, { dev, optional, devOptional, peer }]) =>
        path !== '' && !(dev || optional || devOptional || peer),
    )
    .map(([path]) => path)
    .filter((path) => !isTypes(path))
    .toSorted()
}

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
