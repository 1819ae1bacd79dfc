import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root } from './tree.ts'

const read = (folder: string, paths: readonly string[]): [path: string, text: string][] =>
  paths.toSorted().map((path) => [path, readFileSync(join(folder, path), 'utf8')])

test('services/wire/gen equals the output of "npm run wire"', () => {
  const wire = join(root, 'services/wire/gen')
  const fresh = mkdtempSync(join(tmpdir(), 'fxd-wire-'))
  onTestFinished(() => rmSync(fresh, { recursive: true }))
  execFileSync(join(root, 'proto/generate'), [fresh])

  const protos = globSync('fxd/v1/*.proto', { cwd: join(root, 'proto') })
  const generated = globSync('**/*.ts', { cwd: fresh })
  expect(generated.length).toBeGreaterThan(20)
  for (const proto of protos) {
    expect(generated).toContain(proto.replace(/^.*\/(.*)\.proto$/, '$1.ts'))
  }

  const committed = globSync('**/*.ts', { cwd: wire })
  expect(read(wire, committed)).toEqual(read(fresh, generated))
})

test('a collector reads every kind of message that ingest sends', () => {
  const proto = readFileSync(join(root, 'proto/fxd/v1/collector.proto'), 'utf8')
  const [, sentKinds = ''] = /message IngestMessage \{[^}]*oneof message \{([^}]*)\}/.exec(proto) ?? []
  const client = readFileSync(join(root, 'services/collector/connection/session-client.ts'), 'utf8')
  const [, readKinds = ''] = /const \{ ([\w, ]+) \} = message\n/.exec(client) ?? []
  const names = [...sentKinds.matchAll(/ (\w+) = \d+;/g)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(5)
  expect(new Set(readKinds.split(', '))).toEqual(new Set(names))
})
