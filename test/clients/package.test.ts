import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Bar } from '../acceptance/client/bars.ts'
import { issueKey, revokeKey } from '../acceptance/client/keys.ts'
import { connect } from '../acceptance/client/socket.ts'
import { until } from '../acceptance/client/until.ts'
import { useService } from './one-service.ts'
import { chromium, runtimes } from './runtimes/runtimes.ts'

const repository = join(import.meta.dirname, '../..')
const tsc = join(repository, 'node_modules/typescript/bin/tsc')
const service = useService()
/** A project of a user, in which the packed client is installed. */
const project = mkdtempSync(join(tmpdir(), 'fxd-client-'))
const started: ChildProcess[] = []
const served: Server[] = []

beforeAll(() => {
  const npm = (args: readonly string[], cwd: string): string =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  npm(['run', 'client'], repository)
  const packed = npm(
    ['pack', '--json', '--pack-destination', project],
    join(repository, 'clients/typescript'),
  )
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  writeFileSync(join(project, 'package.json'), '{"name":"user","private":true,"type":"module"}')
  npm(['install', `./${filename}`], project)
  copyFileSync(join(import.meta.dirname, 'runtimes/program.mjs'), join(project, 'program.mjs'))
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  for (const server of served.splice(0)) server.close()
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

const file = (path: string): string => join(project, 'node_modules/@fxd/client', path)

test('the built client has at most 8 kB, gzipped', () => {
  expect(gzipSync(readFileSync(file('dist/index.js')), { level: 9 }).length).toBeLessThanOrEqual(8_192)
})

test('an error that the program does not catch prints a short line of the built client, and its code', () => {
  writeFileSync(
    join(project, 'uncaught.mjs'),
    "import { Fxd } from '@fxd/client'\nfor await (const bar of new Fxd({ key: 'fxd_…' }).history('A:B:C')) bar\n",
  )
  const { status, stderr } = spawnSync(process.execPath, ['uncaught.mjs'], { cwd: project, encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toContain("code: 'INVALID_PARAMS'")
  expect(Math.max(...stderr.split('\n').map(({ length }) => length))).toBeLessThan(400)
})

const check = (text: string): string => {
  writeFileSync(join(project, 'user.ts'), text)
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--types', '', '--lib', 'es2023,dom']
  try {
    return execFileSync(process.execPath, [tsc, ...options, 'user.ts'], { cwd: project, encoding: 'utf8' })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

test('the types of the package check a correct program and refuse a wrong one', () => {
  const program = (body: string): string => `import { Fxd } from '@fxd/client'
const fxd = new Fxd()
for await (const item of fxd.bars('A:B:C', { from: new Date(0) })) { ${body} }
export {}`
  expect(check(program('if (item.type === "bar") { const price: number = item.close; void price }'))).toBe('')
  expect(check(program('item.close'))).toContain("Property 'close' does not exist on type 'GapItem'")
})

/** The first program of the README after this heading, for this service. */
function readmeProgram(heading: string, symbol: string): { readonly program: string; readonly text: string } {
  const [, after = ''] = readFileSync(file('README.md'), 'utf8').split(heading)
  const [, program = ''] = /```[jt]s\n([\s\S]*?)```/.exec(after) ?? []
  const text = program
    .replace('http://127.0.0.1:8080', service.url)
    .replace('fxd_…', service.key)
    .replace('BROKERA:ZERO:EURUSD', symbol)
  return { program, text }
}

/** Runs a file of the project, which prints a line for each bar; `lines` are those. */
function runReadme(name: string, symbol: string) {
  const child = spawn(process.execPath, [name], { cwd: project })
  started.push(child)
  let out = ''
  child.stdout.on('data', (part: Buffer) => (out += String(part)))
  return { child, lines: () => out.split('\n').filter((line) => line.startsWith(symbol)) }
}

test('the program at the top of the README prints bars', async () => {
  const { symbol, stored } = await service.prepare('EURCHF')
  const { program, text } = readmeProgram('# @fxd/client', symbol)
  expect(check(program)).toBe('')
  writeFileSync(join(project, 'readme.mjs'), text)
  const { lines } = runReadme('readme.mjs', symbol)
  await until('the bars', () => lines().length >= stored.length)
  expect(lines()).toEqual(stored.map(({ time, close }) => `${symbol} ${time} ${close}`))
})

test('the program of the README that survives a kill keeps each bar once, with its position, through kills of the service and of itself', async () => {
  const { symbol, file: exported, stored, next } = await service.prepare('USDCHF')
  const { program, text } = readmeProgram('## A program that survives a kill', symbol)
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(25)
  writeFileSync(join(project, 'kept.mjs'), text)
  const copy = new DatabaseSync(join(project, 'bars.db'))
  onTestFinished(() => copy.close())
  // Counts the writes: the table alone does not show a bar that was written twice.
  copy.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE bars (symbol, time INT, open, high, low, close, volume INT, PRIMARY KEY (symbol, time));
    CREATE TABLE position (id PRIMARY KEY, json);
    CREATE TABLE written (time);
    CREATE TRIGGER count BEFORE INSERT ON bars BEGIN INSERT INTO written VALUES (new.time); END`)
  const all = (query: string) => copy.prepare(query).all()
  const position = (): number => {
    const [row] = all('SELECT json FROM position')
    return (JSON.parse(String(row?.['json'] ?? '{}')) as Record<string, number>)[symbol] ?? 0
  }
  const run = (): ChildProcess => {
    const child = spawn(process.execPath, ['kept.mjs'], {
      cwd: project,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    started.push(child)
    return child
  }
  const reaches = (bar: Bar | undefined) =>
    until('a later position', () => position() >= Number(bar?.time), 60_000)
  const first = run()
  await reaches(stored[0])
  await service.kill()
  exported.append(...next.slice(0, 10))
  await service.start()
  await reaches(next[0])
  first.kill('SIGKILL')
  await once(first, 'close')
  const kept = position()
  exported.append(...next.slice(10, -1))
  run()
  await reaches([...stored, ...next].find(({ time }) => time > kept))
  const committed = performance.now()
  await until('the next second, when it commits again', () => performance.now() > committed + 1_000)
  exported.append(...next.slice(-1))
  await reaches(next.at(-1))
  expect(all('SELECT * FROM bars ORDER BY time').map((row) => ({ ...row }))).toEqual(
    [...stored, ...next].map((bar) => ({ symbol, ...bar })),
  )
  expect(all('SELECT * FROM written')).toHaveLength(stored.length + next.length)
  expect(all('SELECT * FROM gaps')).toEqual([])
})

interface Line {
  readonly type?: string
  readonly warn?: string
  readonly error?: string
  readonly [field: string]: unknown
}

type Start = (settings: object, print: (line: Line) => void) => void

const inProcess =
  (command: () => readonly string[]): Start =>
  (settings, print) => {
    const [program = '', ...args] = command()
    const child = spawn(program, [...args, 'program.mjs', JSON.stringify(settings)], { cwd: project })
    started.push(child)
    createInterface(child.stdout).on('line', (line) => print(JSON.parse(line) as Line))
    child.stderr.on('data', (text: Buffer) => print({ stderr: String(text) }))
  }

/** A page that sends its lines to the server that it came from. */
const inChromium: Start = (settings, print) => {
  const { command, env } = chromium()
  const page = `<script type="importmap">{"imports":{"@fxd/client":"/client.js"}}</script><script type="module">
import { run } from '/program.mjs'
let lines = []
let isSending = false
async function send() {
  if (isSending) return
  isSending = true
  while (lines.length > 0) await fetch('/lines', { method: 'POST', body: JSON.stringify(lines.splice(0)) })
  isSending = false
}
await run(${JSON.stringify(settings)}, (line) => {
  lines.push(line)
  void send()
})</script>`
  const texts: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/': ['text/html', page],
    '/client.js': ['text/javascript', readFileSync(file('dist/index.js'), 'utf8')],
    '/program.mjs': ['text/javascript', readFileSync(join(project, 'program.mjs'), 'utf8')],
  }
  const server = createServer((request, response) => {
    const [type, text] = texts[request.url ?? ''] ?? ['text/plain', '']
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      if (request.url === '/lines') (JSON.parse(body) as Line[]).forEach(print)
      response.writeHead(200, { 'Content-Type': type }).end(text)
    })
  }).listen(0, '127.0.0.1', () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const options = ['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${project}/profile`]
    started.push(spawn(command, [...options, url], { env: { ...process.env, ...env } }))
  })
  served.push(server)
}

const all: readonly (readonly [name: string, symbol: string, start: Start])[] = [
  ['Node 24', 'EURUSD', inProcess(runtimes['Node 24']!)],
  ['Node 22', 'GBPUSD', inProcess(runtimes['Node 22']!)],
  ['Deno', 'USDJPY', inProcess(runtimes['Deno']!)],
  ['Bun', 'AUDUSD', inProcess(runtimes['Bun']!)],
  ['Chromium', 'NZDUSD', inChromium],
]

test.for(all)(
  'in %s the client waits for a free connection, gives history and live bars once, and ends with the code of a revoked key',
  { timeout: 300_000 },
  async ([, name, start]) => {
    const { symbol, file: exported, stored, next } = await service.prepare(name, 15_000)
    const issued = await issueKey({ wsConnections: 1 })
    const holder = await connect(issued.key)
    const lines: Line[] = []
    const bars = () => lines.filter(({ type }) => type === 'bar')
    start({ url: service.url, key: issued.key, symbol, from: 0 }, (line) => void lines.push(line))
    const seen = (): string => JSON.stringify(lines.slice(-3))
    const wait = (what: string, isThere: () => boolean): Promise<unknown> =>
      until(what, isThere, 60_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; last lines: ${seen()}`)
      })
    await wait('the refusal', () => lines.some(({ warn }) => warn === 'TOO_MANY_CONNECTIONS'))
    await holder.close()
    await wait('history', () => bars().length >= stored.length)
    exported.append(...next)
    const expected = [...stored, ...next].map((bar) => ({ type: 'bar', symbol, ...bar }))
    await wait('live bars', () => bars().length >= expected.length)
    expect(bars()).toEqual(expected)
    await revokeKey(issued.id)
    await wait('the end', () => lines.some(({ error }) => error !== undefined))
    expect(lines.at(-1)).toEqual({ error: 'KEY_INACTIVE', closeCode: 4500 })
  },
)
