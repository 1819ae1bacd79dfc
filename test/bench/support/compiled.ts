import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cachedFolder } from '../../support/processes/cached-folder.ts'

const header = join(import.meta.dirname, 'web-socket.h')

/** The path of a program in C that uses web-socket.h, compiled; needs a C compiler named `cc`. */
export function compiled(source: string): string {
  const hash = createHash('sha256').update(readFileSync(source)).update(readFileSync(header))
  const name = basename(source, '.c')
  const folder = cachedFolder(`bench-${name}-${hash.digest('hex').slice(0, 12)}`, (into) =>
    execFileSync('cc', ['-O2', '-pthread', '-o', join(into, name), source], { stdio: 'inherit' }),
  )
  return join(folder, name)
}
