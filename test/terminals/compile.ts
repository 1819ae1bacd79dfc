import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programPath, type TerminalKind } from '../../terminals/programs.ts'
import { cachedFolder } from '../support/processes/cached-folder.ts'

const shim = join(import.meta.dirname, 'shim')

/** MQL as C++, with the same line numbers: three rules, which shim/README.md names. */
const rewritten = (program: string): string =>
  program
    .replace(/^#property.*$/gm, '')
    .replace(/\b(\w+)\s*&\s*(\w+)\[\]/g, 'Array<$1> &$2')
    .replace(/^(\s*)(\w+)(\s+)(\w+)\[\];/gm, '$1Array<$2>$3$4;')

const strict = ['-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter', '-std=c++20']
const sanitized = ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all']

function requireCompiler(): void {
  try {
    execFileSync('g++', ['--version'], { stdio: 'pipe' })
  } catch (cause) {
    throw new Error('This test needs g++, version 10 or newer: apt-get install g++', { cause })
  }
}

/**
 * The path of a compiled program, made once for each content. `fast`: without sanitizers, for benches. `market`: path of
 * a header that answers the calls; by default the test process does.
 */
export function compiled(kind: TerminalKind, fast = false, market?: string): string {
  const headers = readdirSync(shim).filter((name) => name.endsWith('.hpp'))
  const program = rewritten(readFileSync(programPath(kind), 'utf8'))
  const source = `#include "terminal.hpp"\n#line 1 "${kind}"\n${program}\n#include "main.hpp"\n`
  const options = [
    ...strict,
    ...(fast ? ['-O2'] : sanitized),
    ...(kind === 'mt4' ? ['-DFXD_MT4'] : []),
    ...(market === undefined ? [] : [`-DFXD_MARKET="${market}"`]),
  ]
  const hash = createHash('sha256').update(source).update(options.join(' '))
  for (const name of headers.toSorted()) hash.update(readFileSync(join(shim, name)))
  if (market !== undefined) hash.update(readFileSync(market))
  const folder = cachedFolder(`bridge-${hash.digest('hex').slice(0, 16)}`, (into) => {
    requireCompiler()
    const file = join(into, 'bridge.cpp')
    writeFileSync(file, source)
    execFileSync('g++', [...options, '-I', shim, '-o', join(into, 'bridge'), file], { stdio: 'pipe' })
  })
  return join(folder, 'bridge')
}
