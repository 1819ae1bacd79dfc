import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root } from './tree.ts'

const read = (folder: string, paths: readonly string[]): [path: string, text: string][] =>
  paths.toSorted().map((path) => [path, readFileSync(join(folder, path), 'utf8')])

test('the wire types are those of the protos: "npm run wire" writes them', () => {
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

test('whatever ingest may say is heard by a collector', () => {
  const proto = readFileSync(join(root, 'proto/fxd/v1/collector.proto'), 'utf8')
  const [, said = ''] = /message IngestMessage \{[^}]*oneof message \{([^}]*)\}/.exec(proto) ?? []
  const conversation = readFileSync(join(root, 'services/collector/connection/session-client.ts'), 'utf8')
  const [, heard = ''] = /const \{ ([\w, ]+) \} = message\n/.exec(conversation) ?? []
  const names = [...said.matchAll(/ (\w+) = \d+;/g)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(5)
  expect(new Set(heard.split(', '))).toEqual(new Set(names))
})
