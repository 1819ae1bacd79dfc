import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../services/cli/run.ts'
import { parseConfig } from '../../services/platform/config.ts'
import { silentLog } from '../../services/platform/log/log.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { startAll } from '../../services/roles/all.ts'

const manifest = (account: string): string => `---
apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: {name: brokera-${account.toLowerCase()}}
spec:
  broker: BROKERA
  account: ${account}
  clock: {mode: UTC}
  quoteBasis: Bid
  resolutions: ["1"]
  symbols: {list: [{raw: EURUSD, type: forex, digits: 5}]}
  source: {type: Push}
`

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** One command line in this process, on the given variables. */
export async function fxd(line: string, environment: Readonly<Record<string, string>>): Promise<Outcome> {
  let [out, err] = ['', '']
  const words = line.split(' ').filter((word) => word !== '')
  const code = await run(words, {
    environment,
    clock: systemClock,
    watched: false,
    folder: process.cwd(),
    input: () => process.stdin,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  })
  return { code, out, err }
}

/** `fxd all` with the feeds BROKERA:VIP and BROKERA:ZERO, and the command line that finds it. */
export async function openCliFixture() {
  const home = mkdtempSync(join(tmpdir(), 'fxd-cli-'))
  const feeds = join(home, 'feeds.yaml')
  const define = (...accounts: string[]): void => writeFileSync(feeds, accounts.map(manifest).join(''))
  define('VIP', 'ZERO')
  const addresses = {
    FXD_HTTP_ADDR: '127.0.0.1:0',
    FXD_GRPC_ADDR: '127.0.0.1:0',
    FXD_OPS_ADDR: '127.0.0.1:0',
  }
  const asked = { ...addresses, FXD_DATA_DIR: join(home, 'data'), FXD_FEEDS: feeds }
  const service = await startAll(parseConfig(asked), { log: silentLog })
  const environment = { ...asked, FXD_GRPC_ADDR: `127.0.0.1:${service.grpcPort}` }

  const fixture = {
    home,
    environment,
    /** Another list of feeds, in effect when it resolves. */
    async redefine(...accounts: string[]): Promise<void> {
      define(...accounts)
      await service.reload()
    },
    fxd: (line: string, more: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
      fxd(line, { ...environment, ...more }),
    /** The answer for a program; throws what a person would have been told. */
    async answer<T = Record<string, unknown>>(line: string): Promise<T> {
      const { code, out, err } = await fixture.fxd(`${line} --json`)
      if (code !== 0) throw new Error(`"fxd ${line}" ended with ${code}: ${err}`)
      return JSON.parse(out) as T
    },
    async close() {
      await service.stop()
      rmSync(home, { recursive: true })
    },
  }
  return fixture
}

export type CliFixture = Awaited<ReturnType<typeof openCliFixture>>
