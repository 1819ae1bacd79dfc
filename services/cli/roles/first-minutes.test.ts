import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exportText, minutes } from '../../../test/acceptance/client/bars.ts'

const main = fileURLToPath(new URL('../../main.ts', import.meta.url))
const patience = { timeout: 30_000, interval: 50 }
const monday = Date.UTC(2024, 0, 8) / 1000

const manifest = `apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: {name: mybroker-live}
spec:
  broker: MYBROKER
  account: LIVE
  clock: {mode: UTC}
  quoteBasis: Bid
  resolutions: ["1", "60"]
  symbols:
    suffixes: [".z"]
    list:
      - {raw: EURUSD.z, type: forex, digits: 5}
      - {raw: GBPUSD.z, type: forex, digits: 5}
  source: {type: Mt5Csv, path: exports, follow: true}
`

let home: string
let exports: string
let service: ChildProcess | undefined
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'fxd-first-'))
  exports = join(home, 'feeds', 'exports')
  mkdirSync(join(home, 'feeds'))
  writeFileSync(join(home, 'feeds', 'mybroker.yaml'), manifest)
})
afterEach(async () => {
  if (service && service.exitCode === null) {
    service.kill('SIGKILL')
    await once(service, 'exit')
  }
  service = undefined
  rmSync(home, { recursive: true })
})

/** Starts `fxd all` as a process; returns its output. */
function start(more: Record<string, string> = { FXD_FEEDS: join(home, 'feeds') }) {
  const said = { out: '', err: '' }
  const child = spawn(process.execPath, [main, 'all'], {
    env: {
      PATH: process.env['PATH'],
      FXD_DATA_DIR: join(home, 'data'),
      FXD_HTTP_ADDR: '127.0.0.1:0',
      FXD_GRPC_ADDR: '127.0.0.1:0',
      FXD_OPS_ADDR: '127.0.0.1:0',
      FXD_LOG_LEVEL: 'warn',
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  service = child
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (said.err += text))
  const logged = (): string[] =>
    said.err
      .split('\n')
      .filter((each) => each.startsWith('{'))
      .map((each) => JSON.parse(each) as { msg: string; why?: string; file?: string })
      .map(({ msg, why, file = '' }) => `${msg}: ${why} ${file}`.trimEnd())
  return { said, logged }
}

describe('a start with FXD_FEEDS', () => {
  test('shows the feeds, their symbols and how to make a key', async () => {
    mkdirSync(exports)
    const token = join(home, 'token')
    writeFileSync(token, `${'t'.repeat(32)}\n`)
    const { said } = start({ FXD_FEEDS: join(home, 'feeds'), FXD_TOKEN_FILE: token })
    await expect.poll(() => said.out, patience).toContain('fxd is ready.')
    await expect.poll(() => said.out, patience).toContain('countback=5')
    expect(said.out).toMatch(/MYBROKER:LIVE +EURUSD, GBPUSD +exports followed: .*\/feeds\/exports\n/)
    const data = join(home, 'data')
    expect(said.out).toMatch(
      new RegExp(
        `\\n  FXD_DATA_DIR=${data} FXD_GRPC_ADDR=127\\.0\\.0\\.1:\\d+ FXD_TOKEN_FILE=${token} npm run -s fxd -- keys create --plan pro --feeds MYBROKER:LIVE\\n`,
      ),
    )
    expect(said.out).toContain('/v1/history?symbol=MYBROKER:LIVE:EURUSD&resolution=1&countback=5')
  }, 60_000)

  test('a missing folder, a damaged file and wrong names are logged in one line each that names the file', async () => {
    const { logged } = start()
    await expect
      .poll(logged, patience)
      .toContainEqual(
        expect.stringMatching(/^failed to open the source; retrying: .*\/feeds\/exports does not exist$/),
      )
    const aside = join(home, 'aside')
    mkdirSync(aside)
    const bars = exportText(minutes(monday, 5, 1.1, 5))
    const files = {
      'EURUSD.z_M1.csv': '<DATE>|<OPEN>\r\n2024.01.08|1\r\n',
      'USDJPY.z_M1.csv': '<DATE>|<OPEN>\r\n2024.01.08|1\r\n',
      'GBPUSD_M1.csv': bars,
      'GBPUSD.z_M2.csv': bars,
      'GBPUSD.z_M5.csv': bars,
      'notes.txt': 'x',
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(aside, name), text)
    // The files appear at once, because a file that is read while it is written gets another message.
    renameSync(aside, exports)
    const at = (name: string): string => join(exports, name)
    const broken = 'The columns are separated by "|"; an MT5 export separates them by tabs'
    const wanted = [
      `failed to read the source; retrying: ${at('EURUSD.z_M1.csv')} is not an export: ${broken}`,
      `failed to read a file; ignored until it changes: ${at('USDJPY.z_M1.csv')} is not an export: ${broken} ${at('USDJPY.z_M1.csv')}`,
      `file not read: the manifest lists GBPUSD.z, not GBPUSD; name the file GBPUSD.z_M1.csv ${at('GBPUSD_M1.csv')}`,
      `file not read: MYBROKER:LIVE does not list resolution 5 in spec.resolutions ${at('GBPUSD.z_M5.csv')}`,
    ]
    for (const sentence of wanted) await expect.poll(logged, patience).toContain(sentence)
    const names = [
      /^file not read: "M2" is a timeframe that fxd does not serve; wanted .*_M2\.csv$/,
      /^file not read: wanted .*notes\.txt$/,
    ]
    for (const sentence of names)
      await expect.poll(logged, patience).toContainEqual(expect.stringMatching(sentence))
    expect(logged().filter((each) => each.includes('exports'))).toHaveLength(7)
  }, 90_000)

  test('a later start of the demo feeds explains how to create a key', async () => {
    const first = start({})
    await expect.poll(() => first.said.out, patience).toContain('This is a key for the demo feeds.')
    const running = service as ChildProcess
    running.kill('SIGTERM')
    await once(running, 'exit')
    const second = start({})
    await expect.poll(() => second.said.out, patience).toContain('countback=5')
    expect(second.said.out).not.toContain('This is a key')
    expect(second.said.out).toMatch(/keys create --plan pro --feeds BROKERA:PRIME,BROKERA:VIP,/)
    expect(second.said.out).toContain('symbol=BROKERA:ZERO:BTCUSD')
  }, 90_000)
})
