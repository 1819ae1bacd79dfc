import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root } from './tree.ts'

test('operator/kube/kinds.ts equals the output of "bin/node charts/write-kinds.ts"', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-kinds-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const fresh = join(folder, 'kinds.ts')
  execFileSync(join(root, 'bin/node'), [join(root, 'charts/write-kinds.ts'), fresh])
  const biome = join(root, 'node_modules/.bin/biome')
  execFileSync(biome, ['format', '--write', `--config-path=${root}`, fresh], { stdio: 'pipe' })
  expect(readFileSync(fresh, 'utf8')).toBe(readFileSync(join(root, 'operator/kube/kinds.ts'), 'utf8'))
})
