import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { run } from '../../services/cli/run.ts'
import type { Terminal } from '../../services/cli/terminal.ts'
import { parseConfig } from '../../services/platform/config.ts'
import { silentLog } from '../../services/platform/log/log.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { startAll } from '../../services/roles/all.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const far = 4_000_000_000

export interface Bar {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** What `--json` printed; empty without. */
  readonly json: Record<string, unknown>
}

/** `fxd all` in this process on a folder of its own, and the command line as a process beside it. */
export interface ImportFixture {
  /** For files of the tests. */
  readonly folder: string
  /** Writes a file of its own; gives its path. */
  write(content: string | Buffer): string
  /** In which a command finds the service. */
  environment(): Readonly<Record<string, string>>
  /** Runs `fxd import` with these arguments in this process: the same words over the same wire, in a tenth of the time. */
  importing(...args: readonly string[]): Promise<Ran>
  /** The same, with a person in front of it. */
  importingWatched(...args: readonly string[]): Promise<Ran>
  /** The same with these bytes on standard input. */
  importingPiped(input: Buffer, ...args: readonly string[]): Promise<Ran>
  /** The same, where the person stands in this folder. */
  importingAt(folder: string, ...args: readonly string[]): Promise<Ran>
  /** Any other command. */
  running(...args: readonly string[]): Promise<Ran>
  /** The same in another environment. */
  importingIn(environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ran>
  /** Runs it as a process of its own. */
  importingApart(...args: readonly string[]): Promise<Ran>
  /** Everything that REST gives of one series. */
  history(symbol: string, resolution: string): Promise<Bar[]>
  /** Time of its newest bar; 0 without any. */
  newest(symbol: string, resolution: string): Promise<number>
  coverage(symbol: string): Promise<{ from: number; to: number }[]>
  /** One symbol as `/v1/symbols` shows it. */
  symbol(symbol: string): Promise<Record<string, unknown>>
  /** Ends the service and starts another one on the same folder. */
  restart(): Promise<void>
  remove(): Promise<void>
}

const manifest = (account: string, spec: object) =>
  stringify({
    apiVersion: 'marketdata.fxd.dev/v1alpha1',
    kind: 'Feed',
    metadata: { name: `brokera-${account.toLowerCase()}` },
    spec: {
      broker: 'BROKERA',
      account,
      clock: { mode: 'UTC' },
      quoteBasis: 'Bid',
      resolutions: ['1', '5', '10', '15', '30', '60', '120', '240', '1D', '1W', '1M'],
      symbols: { list: [] },
      source: { type: 'Push' },
      ...spec,
    },
  })

/** The options that name a series; its account is that of a feed of the fixture. */
export const seriesOptions = (symbol: string, resolution = '1', account = 'ZERO'): string[] => [
  '--feed',
  `BROKERA:${account}`,
  '--symbol',
  symbol,
  '--resolution',
  resolution,
]

/** Feeds by account, each with what its manifest's `spec` says beside the usual. */
export async function startImportFixture(feeds: Readonly<Record<string, object>>): Promise<ImportFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-import-'))
  mkdirSync(join(folder, 'feeds'))
  for (const [account, spec] of Object.entries(feeds)) {
    writeFileSync(join(folder, 'feeds', `${account}.yaml`), manifest(account, spec))
  }
  const base = {
    FXD_FEEDS: join(folder, 'feeds'),
    FXD_DATA_DIR: join(folder, 'data'),
    FXD_LOG_LEVEL: 'error',
  }
  const free = { FXD_HTTP_ADDR: '127.0.0.1:0', FXD_GRPC_ADDR: '127.0.0.1:0', FXD_OPS_ADDR: '127.0.0.1:0' }
  const start = () => startAll(parseConfig({ ...base, ...free }), { log: silentLog })
  let service = await start()
  const environment = () => ({ ...base, FXD_GRPC_ADDR: `127.0.0.1:${service.grpcPort}` })
  const key = await createKey(environment(), Object.keys(feeds))
  const ask = async (path: string, query: Record<string, string>): Promise<Record<string, unknown>> => {
    const url = `http://127.0.0.1:${service.httpPort}/v1/${path}?${new URLSearchParams(query).toString()}`
    const answer = await fetch(url, { headers: { 'x-api-key': key } })
    return (await answer.json()) as Record<string, unknown>
  }
  let files = 0
  return {
    folder,
    write(content) {
      const path = join(folder, `file-${files++}.csv`)
      writeFileSync(path, content)
      return path
    },
    environment,
    importing: (...args) => runHere(['import', ...args], environment()),
    importingWatched: (...args) => runHere(['import', ...args], environment(), { watched: true }),
    importingPiped: (input, ...args) =>
      runHere(['import', '-', ...args], environment(), { input: () => Readable.from([input]) }),
    importingAt: (stands, ...args) => runHere(['import', ...args], environment(), { folder: stands }),
    running: (...args) => runHere(args, environment()),
    importingIn: (other, ...args) => runHere(['import', ...args], other),
    importingApart: (...args) => runFxd(['import', ...args], environment()),
    history: async (symbol, resolution) =>
      barsOf(await ask('history', { symbol, resolution, from: '0', to: String(far) })),
    newest: async (symbol, resolution) =>
      barsOf(await ask('history', { symbol, resolution, countback: '1' }))[0]?.time ?? 0,
    async coverage(symbol) {
      const answer = await ask('coverage', { symbol })
      return answer['coverage'] as { from: number; to: number }[]
    },
    symbol: (symbol) => ask('symbols', { symbol }),
    async restart() {
      await service.stop()
      service = await start()
    },
    async remove() {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function createKey(
  environment: Readonly<Record<string, string>>,
  accounts: readonly string[],
): Promise<string> {
  const feeds = accounts.map((account) => `BROKERA:${account}`).join(',')
  const limits = ['--rpm', '100000', '--rpd', '1000000']
  const args = ['keys', 'create', '--plan', 'pro', '--feeds', feeds, ...limits, '--json']
  const { code, json, stderr } = await runHere(args, environment)
  if (code !== 0) throw new Error(stderr)
  return String(json['key'])
}

async function runHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  more: Partial<Pick<Terminal, 'watched' | 'folder' | 'input'>> = {},
): Promise<Ran> {
  const told = { out: '', err: '' }
  const code = await run(args, {
    environment,
    clock: systemClock,
    watched: false,
    folder: process.cwd(),
    input: () => process.stdin,
    out: (text) => void (told.out += text),
    err: (text) => void (told.err += text),
    ...more,
  })
  return ranOf(code, told.out, told.err)
}

const ranOf = (code: number, stdout: string, stderr: string): Ran => ({
  code,
  stdout,
  stderr,
  json: stdout.startsWith('{') ? (JSON.parse(stdout) as Record<string, unknown>) : {},
})

/** The real command as a process, in an environment without other variables of fxd. */
export function runFxd(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, 'bin/node'), [join(root, 'services/main.ts'), ...args], {
      env: { PATH: process.env['PATH'], TMPDIR: tmpdir(), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => void (stdout += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => void (stderr += part))
    child.on('error', reject)
    child.on('close', (code) => resolve(ranOf(code ?? -1, stdout, stderr)))
  })
}

function barsOf(answer: Record<string, unknown>): Bar[] {
  if (answer['s'] === 'no_data') return []
  if (answer['s'] !== 'ok') throw new Error(JSON.stringify(answer))
  const { t, o, h, l, c, v } = answer as Record<string, number[]>
  return (t ?? []).map((time, i) => ({
    time,
    open: o?.[i] ?? Number.NaN,
    high: h?.[i] ?? Number.NaN,
    low: l?.[i] ?? Number.NaN,
    close: c?.[i] ?? Number.NaN,
    volume: v?.[i] ?? Number.NaN,
  }))
}
