import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '../platform/config.ts'
import { silentLog } from '../platform/log.ts'
import { systemClock } from '../platform/system-clock.ts'
import { type RunningAll, startAll } from '../roles/all.ts'
import { run } from './run.ts'

const home = mkdtempSync(join(tmpdir(), 'fxd-cli-'))
const feeds = join(home, 'feeds.yaml')
const dataDir = join(home, 'data')
let service: RunningAll
let environment: Record<string, string>

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

beforeAll(async () => {
  writeFileSync(feeds, manifest('ZERO') + manifest('VIP'))
  const addresses = {
    FXD_HTTP_ADDR: '127.0.0.1:0',
    FXD_GRPC_ADDR: '127.0.0.1:0',
    FXD_OPS_ADDR: '127.0.0.1:0',
  }
  environment = { ...addresses, FXD_DATA_DIR: dataDir, FXD_FEEDS: feeds }
  service = await startAll(parseConfig(environment), { log: silentLog })
  environment = { ...environment, FXD_GRPC_ADDR: `127.0.0.1:${service.grpcPort}` }
})
afterAll(async () => {
  await service.stop()
  rmSync(home, { recursive: true })
})

interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function fxd(line: string, more: Record<string, string> = {}): Promise<Outcome> {
  let [out, err] = ['', '']
  const code = await run(
    line.split(' ').filter((word) => word !== ''),
    {
      environment: { ...environment, ...more },
      clock: systemClock,
      watched: false,
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    },
  )
  return { code, out, err }
}

/** The answer for a program; anything but success fails the test. */
async function answer<T = Record<string, unknown>>(line: string): Promise<T> {
  const outcome = await fxd(`${line} --json`)
  expect(outcome, outcome.err).toMatchObject({ code: 0 })
  return JSON.parse(outcome.out) as T
}

interface KeyAnswer {
  readonly id: string
  readonly key: string
  readonly version: number
}
const create = (more = ''): Promise<KeyAnswer> =>
  answer<KeyAnswer>(`keys create --plan pro --feeds BROKERA:ZERO ${more}`)

describe('keys', () => {
  test('create prints the key, alone on this one occasion', async () => {
    const issued = await answer(
      'keys create --plan pro --feeds BROKERA:ZERO,BROKERA:VIP --rpm 7 --ws-symbols 9 ' +
        '--allow-ip 10.0.0.0/8,2001:db8::1 --expires 2999-01-31 --name charts',
    )
    expect(issued).toEqual({
      id: expect.stringMatching(/^k_[0-9a-f]{10}$/) as unknown,
      key: expect.stringMatching(/^fxd_[0-9a-f]{32}$/) as unknown,
      name: 'charts',
      prefix: String(issued['key']).slice(0, 8),
      plan: 'pro',
      limits: { rpm: 7, rpd: 250_000, ws_connections: 30, ws_symbols: 9 },
      feeds: ['BROKERA:ZERO', 'BROKERA:VIP'],
      allow_ips: ['10.0.0.0/8', '2001:db8::1'],
      expires_at: '2999-02-01T00:00:00Z',
      state: 'active',
      created_at: expect.stringMatching(/^2\d{3}-\d\d-\d\dT/) as unknown,
      old_secret_until: null,
      version: expect.any(Number) as unknown,
    })
    const shown = await fxd(`keys show ${String(issued['id'])}`)
    const listed = await fxd('keys list')
    for (const text of [shown.out, listed.out]) {
      expect(text).toContain(issued['id'])
      expect(text).not.toContain(issued['key'])
    }
  })

  test('a person gets the key among its fields, and words on the other stream', async () => {
    const { code, out, err } = await fxd('keys create --plan basic --feeds BROKERA:ZERO')
    expect(code).toBe(0)
    expect(out).toMatch(/^key\s+fxd_[0-9a-f]{32}$/m)
    expect(err).toContain('shown this once')
    expect(err).not.toMatch(/fxd_[0-9a-f]{32}/)
  })

  test('a key that is born expired is said to be', async () => {
    const { code, err } = await fxd('keys create --plan basic --feeds BROKERA:ZERO --expires 2020-01-01')
    expect(code).toBe(0)
    expect(err).toContain('expired already')
  })

  test('update changes what is given, "any" and "never" take away', async () => {
    const { id } = await create('--allow-ip 10.0.0.1 --expires 2999-01-31')
    expect(await answer(`keys update ${id} --rpm 5 --feeds BROKERA:VIP --name other`)).toMatchObject({
      name: 'other',
      limits: { rpm: 5, rpd: 250_000 },
      feeds: ['BROKERA:VIP'],
      allow_ips: ['10.0.0.1'],
      expires_at: '2999-02-01T00:00:00Z',
    })
    expect(await answer(`keys update ${id} --allow-ip any --expires never`)).toMatchObject({
      allow_ips: [],
      expires_at: null,
    })
  })

  test('changes at the same moment are read again and none is lost', async () => {
    const { id } = await create()
    const outcomes = await Promise.all([
      fxd(`keys update ${id} --rpm 5`),
      fxd(`keys update ${id} --name both`),
    ])
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0])
    expect(await answer(`keys show ${id}`)).toMatchObject({ name: 'both', limits: { rpm: 5 } })
  })

  test('rotate gives a new key under the old id, with an overlap when asked', async () => {
    const { id, key } = await create()
    const rotated = await answer(`keys rotate ${id} --overlap 1h`)
    expect(rotated).toMatchObject({ id, key: expect.stringMatching(/^fxd_[0-9a-f]{32}$/) as unknown })
    expect(rotated['key']).not.toBe(key)
    expect(rotated['old_secret_until']).not.toBeNull()
  })

  test('revoke is final', async () => {
    const { id } = await create()
    expect(await answer(`keys revoke ${id}`)).toMatchObject({ id, state: 'inactive' })
    expect(await fxd(`keys rotate ${id}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('final') as unknown,
    })
  })

  test.each([
    ['keys create --plan gold --feeds BROKERA:ZERO', 64, /plan: got "gold"/],
    ['keys create --plan basic --feeds BROKERA:ZER0', 64, /did you mean BROKERA:ZERO\?/],
    ['keys create --plan basic', 64, /--feeds <list>' not specified/],
    ['keys create --plan basic --feeds BROKERA:ZERO --rpm -1', 64, /--rpm.*whole number/],
    ['keys create --plan basic --feeds BROKERA:ZERO --rpm 1e3', 64, /--rpm.*whole number/],
    ['keys create --plan enterprise --feeds BROKERA:ZERO --rpm 1', 64, /ws_symbols/],
    ['keys rotate k_1 --overlap soon', 64, /--overlap: got "soon"/],
    ['keys update k_1', 64, /Nothing to change/],
    ['keys show k_1', 1, /no key with the id "k_1"/],
    ['keys show', 64, /missing required argument 'id'/],
    ['keys list extra', 64, /too many arguments/],
    ['keys lst', 64, /Did you mean list\?/],
    ['keyz', 64, /Did you mean keys\?/],
    ['keys list --jsn', 64, /unknown option '--jsn'/],
    ['feeds show BROKERA:ZER', 1, /did you mean BROKERA:ZERO\?/],
    ['feeds purge BROKERA:ZERO', 1, /still defined by a Feed manifest/],
  ])('%s ends with %i and a sentence', async (line, code, sentence) => {
    const outcome = await fxd(line)
    expect(outcome).toMatchObject({ code, out: '' })
    expect(outcome.err).toMatch(sentence)
    expect(outcome.err).toMatch(/^fxd: /)
  })
})

describe('feeds', () => {
  test('list and show tell what is defined', async () => {
    expect(await answer('feeds list')).toEqual([
      expect.objectContaining({ feed: 'BROKERA:VIP', hidden: false, symbol_count: 1, status: 'offline' }),
      expect.objectContaining({ feed: 'BROKERA:ZERO', source: 'Push', last_candle_time: null }),
    ])
    expect(await answer('feeds show BROKERA:ZERO')).toMatchObject({
      feed: 'BROKERA:ZERO',
      symbols: ['BROKERA:ZERO:EURUSD'],
      manifest: { kind: 'Feed', spec: { broker: 'BROKERA', account: 'ZERO' } },
    })
    expect((await fxd('feeds list')).out).toMatch(/^FEED\s+STATUS/)
    expect((await fxd('feeds show BROKERA:ZERO')).out).toContain('kind: Feed')
  })

  test('purge removes the bars of a feed that no manifest names any more', async () => {
    writeFileSync(feeds, manifest('ZERO'))
    await service.reload()
    expect(await answer('feeds purge BROKERA:VIP')).toEqual({ feed: 'BROKERA:VIP', series: 0 })
    expect((await fxd('feeds list')).out).toMatch(/BROKERA:VIP\s+hidden/)
  })
})

describe('a service that cannot be asked', () => {
  test('that is not running is said in a sentence, with the variable', async () => {
    const outcome = await fxd('keys list', { FXD_GRPC_ADDR: '127.0.0.1:1' })
    expect(outcome.code).toBe(69)
    expect(outcome.err).toMatch(/127\.0\.0\.1:1 \(FXD_GRPC_ADDR\) does not answer.*fxd all/)
  })

  test('that never ran on this folder is said in a sentence', async () => {
    const outcome = await fxd('keys list', { FXD_DATA_DIR: join(home, 'elsewhere') })
    expect(outcome.code).toBe(69)
    expect(outcome.err).toMatch(/no service has run on this folder/)
  })

  test('that has another token is said in a sentence, and the token is not', async () => {
    writeFileSync(join(home, 'token'), 'another-token\n')
    const outcome = await fxd('keys list', { FXD_DATA_DIR: home })
    expect(outcome.code).toBe(77)
    expect(outcome.err).toMatch(/refused the token of .*FXD_DATA_DIR/)
    expect(outcome.err).not.toContain('another-token')
  })
})

describe('config', () => {
  test('prints each variable with what is set, its default and its meaning', async () => {
    const variables =
      await answer<{ name: string; value: string; default: string; meaning: string }[]>('config')
    expect(variables.find(({ name }) => name === 'FXD_DATA_DIR')).toMatchObject({
      value: dataDir,
      default: './data',
    })
    const { out } = await fxd('config')
    for (const { name, meaning } of variables) {
      expect(out).toContain(name)
      expect(out).toContain(meaning)
    }
  })

  test.each([
    ['config', { FXD_HTTP_ADDR: 'nowhere' }, /FXD_HTTP_ADDR is "nowhere"/],
    ['keys list', { FXD_HTTP_ADR: 'x' }, /FXD_HTTP_ADR is no variable of fxd; did you mean FXD_HTTP_ADDR\?/],
    ['all', { FXD_TRUSTED_PROXIES: 'true' }, /FXD_TRUSTED_PROXIES is "true"/],
  ])('%s refuses an invalid or unknown variable by name', async (line, more, sentence) => {
    const outcome = await fxd(line, more)
    expect(outcome.code).toBe(78)
    expect(outcome.err).toMatch(sentence)
  })
})

describe('help', () => {
  test.each([
    ['--help', /keys .*[\s\S]*feeds .*[\s\S]*config/],
    ['--help', /Exit codes:[\s\S]*69 {2}the service does not answer/],
    ['keys --help', /create.*[\s\S]*rotate/],
    ['keys create --help', /--plan <plan>[\s\S]*--allow-ip <list>[\s\S]*--json/],
    ['feeds --help', /purge/],
    ['feeds purge --help', /cannot be\s+brought back/],
    ['config --help', /--json/],
    ['all --help', /FXD_DATA_DIR/],
  ])('"fxd %s" is there and ends well', async (line, words) => {
    const outcome = await fxd(line)
    expect(outcome).toMatchObject({ code: 0, err: '' })
    expect(outcome.out).toMatch(words)
    expect(outcome.out).toMatch(/\n$/)
  })

  test('the version is the package’s', async () => {
    expect((await fxd('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

test('the program itself takes the command line, its environment and its exit code from there', async () => {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const start = (...args: string[]) =>
    spawn(process.execPath, [main, ...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const listing = start('feeds', 'list', '--json')
  const [out, [listed]] = await Promise.all([
    listing.stdout.toArray(),
    once(listing, 'close') as Promise<[number]>,
  ])
  expect(listed).toBe(0)
  expect(JSON.parse(out.join(''))).toContainEqual(expect.objectContaining({ feed: 'BROKERA:ZERO' }))
  const [refused] = (await once(start('keys', 'show', 'k_1'), 'close')) as [number]
  expect(refused).toBe(1)
})
