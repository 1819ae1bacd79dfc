import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface TextFile {
  /** From the root of the checkout, with `/`. */
  readonly path: string
  readonly text: string
}

export const root = join(import.meta.dirname, '../..')

const notText = /\.(png|ico|gz|woff2)$/

/** Every text file that is committed or not ignored. */
export const everything: readonly TextFile[] = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
  { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
)
  .split('\0')
  .filter((path) => path !== '' && !notText.test(path) && existsSync(join(root, path)))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

const generated = /^services\/wire\/gen\//

/** TypeScript that is not generated. */
export const written = everything.filter((file) => file.path.endsWith('.ts') && !generated.test(file.path))

/** The part of `written` that is in the image. */
export const shipped = written.filter(
  (file) => /^(services|operator)\//.test(file.path) && !file.path.endsWith('.test.ts'),
)

export const tests = written.filter((file) => file.path.endsWith('.test.ts'))

/** All text files but the lock file and the market data of tests. */
export const readable = everything.filter(
  (file) => file.path !== 'package-lock.json' && !file.path.startsWith('test/data/'),
)

export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')
