import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { root } from './tree.ts'

const bin = join(root, 'node_modules/.bin')

/** PATH as `npm run` sets it: the linter finds its type-aware part there. */
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` }

/** The output of a tool that fails, else ''. */
function complaints(tool: string, args: readonly string[], folder = root): string {
  try {
    execFileSync(join(bin, tool), args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' })
    return ''
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    return `${stdout ?? ''}${stderr ?? ''}` || String(error)
  }
}

const lint = ['--type-aware', '--deny-warnings', '--config', join(root, '.oxlintrc.json')]

const tools = [
  { command: 'npm run types', tool: 'tsc', args: ['--pretty', 'false'] },
  { command: 'npm run types', tool: 'tsc', args: ['--pretty', 'false', '--project', 'services/page'] },
  { command: 'npm run lint', tool: 'oxlint', args: [...lint, '--format', 'unix'] },
  { command: 'npm run format', tool: 'biome', args: ['check', '--colors=off'] },
  { command: 'npm run unused', tool: 'knip', args: ['--no-progress'] },
  { command: 'npm run proto', tool: 'buf', args: ['lint'] },
  { command: 'npm run proto', tool: 'buf', args: ['breaking', '--against', 'proto/baseline.binpb'] },
]

test.for(tools)('$tool $args.0 reports nothing ($command)', ({ tool, args }) => {
  expect(complaints(tool, args)).toBe('')
})

/** A tool that reads no files reports nothing, so each must find a planted fault. */
describe('a planted fault is found', () => {
  function plant(files: Record<string, string>): string {
    const folder = mkdtempSync(join(tmpdir(), 'fxd-tidy-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return folder
  }

  const tsconfig = JSON.stringify({
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { types: [], incremental: false },
    include: ['*.ts'],
  })

  test('by the type checker', () => {
    const folder = plant({
      'tsconfig.json': tsconfig,
      'enum.ts': 'export enum Side { Bid }\n',
      'index.ts': 'export const first: string = [1][0]\n',
    })
    const found = complaints('tsc', ['--project', folder, '--pretty', 'false'], folder)
    expect(found).toContain('erasableSyntaxOnly')
    expect(found).toContain("'number | undefined' is not assignable to type 'string'")
  })

  test.for([
    ['no-floating-promises', 'Promise.reject(new Error())\n'],
    ['no-misused-promises', 'if (Promise.resolve(1)) void 0\n'],
    [
      'switch-exhaustiveness-check',
      "export const f = (s: 'a' | 'b') => {\n  switch (s) {\n    case 'a':\n      return 1\n  }\n}\n",
    ],
    ['no-explicit-any', 'export let x: any\n'],
    ['max-lines-per-function', `export function long() {\n${'  void 0\n'.repeat(71)}}\n`],
  ] as const)('by the linter: %s', ([rule, text]) => {
    const folder = plant({ 'tsconfig.json': tsconfig, 'bad.ts': text })
    expect(complaints('oxlint', [...lint, '.'], folder)).toContain(rule)
  })

  test('by the formatter', () => {
    const folder = plant({ 'bad.ts': 'export const a = "b";\n' })
    expect(complaints('biome', ['check', `--config-path=${root}`, 'bad.ts'], folder)).toContain('format')
  })

  test('by the check for breaking changes of a proto', () => {
    const folder = plant({})
    cpSync(join(root, 'buf.yaml'), join(folder, 'buf.yaml'))
    cpSync(join(root, 'proto'), join(folder, 'proto'), { recursive: true })
    const file = join(folder, 'proto/fxd/v1/shard.proto')
    writeFileSync(file, readFileSync(file, 'utf8').replace('uint32 seconds = 1', 'uint64 seconds = 1'))
    const found = complaints('buf', ['breaking', '--against', join(root, 'proto/baseline.binpb')], folder)
    expect(found).toContain('Field "1" with name "seconds"')
  })
})
