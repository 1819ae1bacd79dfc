import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Fatal } from '../platform/process/exit.ts'
import { ManifestsInvalid } from './manifest-files.ts'
import { readManifests } from './manifests.ts'

const root = mkdtempSync(join(tmpdir(), 'fxd-manifests-'))
afterAll(() => rmSync(root, { recursive: true }))

let folders = 0
function folder(files: Record<string, string>): string {
  const path = join(root, `f${folders++}`)
  mkdirSync(path)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}

const manifest = (
  account: string,
  more = '',
  name = account.toLowerCase(),
): string => `apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: {name: ${name}}
spec:
  broker: BROKERA
  account: ${account}
  clock: {mode: UTC}
  quoteBasis: Bid
  resolutions: ["1"]
  source: {type: Push}
${more}`

async function faultsOf(path: string): Promise<readonly string[]> {
  const error = await readManifests(path).catch((cause: unknown) => cause)
  expect(error).toBeInstanceOf(ManifestsInvalid)
  expect((error as ManifestsInvalid).exit).toBe('config')
  return (error as ManifestsInvalid).faults.map((fault) => fault.replaceAll(`${path}/`, ''))
}

test('a folder returns the feeds of its .yaml and .yml files by name, several documents each', async () => {
  const path = folder({
    'b.yml': manifest('B'),
    'a.yaml': `---\n${manifest('A1')}---\n${manifest('A2')}---\n`,
    'README.md': 'no manifest',
    '.hidden.yaml': 'no: manifest',
  })
  const { definitions } = await readManifests(path)
  expect(definitions.map((each) => each.key)).toEqual(['BROKERA:A1', 'BROKERA:A2', 'BROKERA:B'])
})

test('a single file is read, and the links of a mounted ConfigMap are followed', async () => {
  const path = folder({ 'real.yaml': manifest('ZERO') })
  expect((await readManifests(join(path, 'real.yaml'))).definitions).toHaveLength(1)
  const links = folder({})
  symlinkSync(path, join(links, '..data'))
  symlinkSync(join('..data', 'real.yaml'), join(links, 'real.yaml'))
  expect((await readManifests(links)).definitions.map((each) => each.name)).toEqual(['zero'])
})

test('a fault has file, line, field and the wanted value', async () => {
  const path = folder({
    'a.yaml': `# two feeds\n${manifest('A')}---\n${manifest(
      'B',
      '  symbols:\n    list:\n      - {raw: X, type: forex, digits: 5}\n      - {raw: Y, type: stock, digits: five}\n',
    )}`,
  })
  expect(await faultsOf(path)).toEqual([
    expect.stringMatching(/^a\.yaml:26: spec\.symbols\.list\[1\]\.type: got "stock", wanted .*"cfd"/),
    expect.stringMatching(/^a\.yaml:26: spec\.symbols\.list\[1\]\.digits: got "five", wanted a whole number/),
  ])
})

test('a missing field has the line of the mapping that should contain it', async () => {
  const path = folder({ 'a.yaml': manifest('A').replace('  quoteBasis: Bid\n', '') })
  expect(await faultsOf(path)).toEqual([
    expect.stringMatching(/^a\.yaml:5: spec\.quoteBasis: got nothing, wanted one of "Bid", "Mid"/),
  ])
})

test('the faults of all files are reported together', async () => {
  const path = folder({
    'a.yaml': manifest('A').replace('Bid', 'Ask'),
    'b.yaml': manifest('B').replace('UTC', 'GMT'),
  })
  const faults = await faultsOf(path)
  expect(faults.map((fault) => fault.slice(0, 8))).toEqual(['a.yaml:8', 'b.yaml:7'])
})

test.each([
  ['invalid YAML', 'spec: [1, 2\nkind: }', /^a\.yaml:\d+: YAML: /],
  ['a repeated key', 'kind: Feed\nkind: Feed\n', /^a\.yaml:2: YAML: Map keys must be unique/],
  ['an unknown alias', 'kind: *feed\n', /^a\.yaml:1: YAML: /],
  ['an empty file', '', /^a\.yaml:1: document: got an empty file/],
  ['a text', 'hello\n', /^a\.yaml:1: document: got "hello"/],
  ['a list', '- 1\n', /^a\.yaml:1: document: got a list/],
  ['an unknown field', manifest('A', '  colour: red\n'), /^a\.yaml:11: spec\.colour: got an unknown field/],
  ['30 without 1', manifest('A').replace('["1"]', '["5", "30"]'), /^a\.yaml:9: spec\.resolutions: got "30"/],
])('%s is refused with its line', async (_name, text, expected) => {
  expect((await faultsOf(folder({ 'a.yaml': text })))[0]).toMatch(expected)
})

test('for a document that is not valid YAML only the first error is reported', async () => {
  const faults = await faultsOf(folder({ 'a.yaml': manifest('A').replace('  broker', '\tbroker') }))
  expect(faults).toEqual([expect.stringMatching(/^a\.yaml:\d+: YAML: Tabs are not allowed/)])
})

test('a document with too many aliases is refused', async () => {
  const levels = Array.from(
    { length: 12 },
    (_, i) =>
      `a${i}: &a${i} [${Array(12)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
  )
  const faults = await faultsOf(folder({ 'a.yaml': ['a: &a-1 x', ...levels].join('\n') }))
  expect(faults[0]).toMatch(/^a\.yaml:1: YAML: /)
})

test('a feed that is defined twice is refused with the place of the first', async () => {
  const path = folder({ 'a.yaml': manifest('A'), 'b.yaml': manifest('A', '', 'other') })
  expect(await faultsOf(path)).toEqual([
    'b.yaml:6: spec.account: got BROKERA:A twice, wanted it once: a.yaml:6 has it already',
  ])
})

test('a name that is used twice is refused with the place of the first', async () => {
  const path = folder({ 'a.yaml': manifest('A', '', 'same'), 'b.yaml': manifest('B', '', 'same') })
  expect(await faultsOf(path)).toEqual([
    'b.yaml:3: metadata.name: got "same" twice, wanted it once: a.yaml:3 has it already',
  ])
})

test('a folder without manifests is refused, because it would hide every feed', async () => {
  expect((await faultsOf(folder({ 'README.md': 'x' })))[0]).toMatch(/got no \.yaml file/)
})

test('a missing path is reported with its variable', async () => {
  const error = await readManifests(join(root, 'nowhere')).catch((cause: unknown) => cause)
  expect(error).toBeInstanceOf(Fatal)
  expect((error as Fatal).exit).toBe('noInput')
  expect((error as Fatal).message).toMatch(/nowhere.*FXD_FEEDS/)
})

test('a relative path of a source is resolved from the folder of its manifest', async () => {
  const path = folder({
    'a.yaml': manifest('A').replace('{type: Push}', '{type: Mt5Csv, path: exports, follow: true}'),
  })
  const { definitions } = await readManifests(path)
  expect(definitions[0]?.source).toMatchObject({ path: join(path, 'exports') })
})

test('the place of a field can be looked up after reading, for faults that only the registry finds', async () => {
  const path = folder({ 'a.yaml': manifest('A'), 'b.yaml': manifest('B', '  storage: {buckets: 8}\n') })
  const { definitions, where } = await readManifests(path)
  const key = definitions[1]?.key
  expect(key && where(key, ['spec', 'storage', 'buckets'])).toBe(join(path, 'b.yaml:11'))
})
