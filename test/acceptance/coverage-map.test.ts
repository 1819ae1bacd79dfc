import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'

/**
 * COVERAGE.md lists which test proves which sentence of the specification. These tests keep it true: every
 * test that it names exists, and it names every test of the two suites.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const suites = { process: 'acceptance', 'virtual clock': 'acceptance-clock' } as const
type Proof = keyof typeof suites

interface Node {
  type: string
  [field: string]: unknown
}
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value
const named = (node: unknown, name: string): boolean => isNode(node) && node['name'] === name

/** `test('…')` and `test.for(…)('…')`. */
const isTest = (callee: unknown): boolean => {
  if (!isNode(callee)) return false
  if (callee.type === 'CallExpression') return isTest(callee['callee'])
  return named(callee, 'test') || (callee.type === 'MemberExpression' && named(callee['object'], 'test'))
}

const titlesIn = (file: string): string[] => {
  const titles: string[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each)
    if (!isNode(value)) return
    const [title] = (value['arguments'] ?? []) as Node[]
    if (value.type === 'CallExpression' && isTest(value['callee']) && title?.type === 'Literal') {
      titles.push(String(title['value']))
    }
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseSync(file, readFileSync(file, 'utf8')).program)
  return titles
}

const existing = (Object.entries(suites) as [Proof, string][]).flatMap(([proof, folder]) =>
  readdirSync(`${root}${folder}`)
    .filter((file) => file.endsWith('.test.ts') && file !== 'coverage-map.test.ts')
    .flatMap((file) =>
      titlesIn(`${root}${folder}/${file}`).map(
        (title) => `${proof}: ${file.replace('.test.ts', '')}: ${title}`,
      ),
    ),
)

/** Rows are `| sentence | proof | file: title<br>file: title |`. */
const rows = readFileSync(`${root}acceptance/COVERAGE.md`, 'utf8')
  .split('\n')
  .filter((row) => row.startsWith('| ') && !row.startsWith('| sentence'))
  .map((row) => row.split('|').map((cell) => cell.trim()))
  .map(([, sentence = '', proof = '', tests = '']) => ({ sentence, proof, tests: tests.split('<br>') }))

test('every sentence names its proof and at least one test', () => {
  expect(rows.length).toBeGreaterThan(150)
  for (const { sentence, proof, tests } of rows) {
    expect(sentence.length, sentence).toBeGreaterThan(5)
    expect(['process', 'virtual clock', 'not a behaviour'], sentence).toContain(proof)
    expect(tests.join('').length, sentence).toBeGreaterThan(5)
  }
})

test('every test that COVERAGE.md names exists', () => {
  const wanted = rows
    .filter(({ proof }) => proof !== 'not a behaviour')
    .flatMap(({ proof, tests }) => tests.map((each) => `${proof}: ${each}`))
  expect(existing.length).toBeGreaterThan(250)
  expect(wanted.filter((each) => !existing.includes(each))).toEqual([])
})

test('every acceptance test is named in COVERAGE.md', () => {
  const given = new Set(rows.flatMap(({ proof, tests }) => tests.map((each) => `${proof}: ${each}`)))
  expect(existing.filter((each) => !given.has(each))).toEqual([])
  expect(new Set(existing).size).toBe(existing.length)
})
