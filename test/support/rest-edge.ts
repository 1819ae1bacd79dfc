import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { digestOf } from '../../services/access/authenticate.ts'
import { createCoverage } from '../../services/bars/coverage.ts'
import { createHistory } from '../../services/bars/history.ts'
import { createTail } from '../../services/bars/tail.ts'
import { type KeyRecord, shownPrefixLength } from '../../services/core/api-key.ts'
import { type Bar, barsOf } from '../../services/core/bar.ts'
import type { CompoundKey } from '../../services/core/compound-key.ts'
import { compoundKey, feedKey, parseCompoundKey } from '../../services/core/compound-key.ts'
import type { FeedDefinition } from '../../services/core/feed.ts'
import { feedSeconds, utcMs } from '../../services/core/feed-clock.ts'
import { planLimits } from '../../services/core/plan.ts'
import { type Resolution, resolutions } from '../../services/core/resolution.ts'
import type { SymbolRecord } from '../../services/core/symbol.ts'
import { openHttpServer } from '../../services/platform/http/http-server.ts'
import { createLog, silentLog } from '../../services/platform/log/log.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import type { RegistryBody } from '../../services/ports/registry.ts'
import type { Stores } from '../../services/ports/stores.ts'
import { followRegistry } from '../../services/registry/follow.ts'
import { createRest } from '../../services/rest/create-rest.ts'
import { openEmbeddedStores } from '../../services/stores/embedded/open.ts'
import { describedBy } from './described-by.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

/** Any number is a key's secret; the same number is the same key. */
export const secretOf = (n: number): string => `fxd_${n.toString(16).padStart(32, '0')}`

export const aFeed = (
  broker: string,
  account: string,
  more: Partial<FeedDefinition> = {},
): FeedDefinition => ({
  key: feedKey(broker, account),
  name: `${broker}-${account}`.toLowerCase(),
  broker,
  account,
  brokerName: broker,
  description: `${broker} ${account}`,
  clock: { mode: 'UTC' },
  quoteBasis: 'Bid',
  resolutions,
  delaySeconds: 0,
  liveness: 'candle',
  depth: {},
  retention: {},
  storageBuckets: 4,
  suffixes: [],
  symbols: [],
  source: { type: 'Push' },
  ...more,
})

export const aSymbol = (text: string, more: Partial<SymbolRecord> = {}): SymbolRecord => {
  const parts = parseCompoundKey(text)
  if (!parts) throw new Error(`${text} is no compound key`)
  return {
    symbol: compoundKey(parts.feed, parts.name),
    feed: parts.feed,
    name: parts.name,
    raw: parts.name,
    display: parts.name,
    description: '',
    type: 'forex',
    digits: 5,
    session: '24x5',
    delaySeconds: 0,
    origin: 'manifest',
    hidden: false,
    ...more,
  }
}

/** The key whose secret is `secretOf(n)`; its id is `key-n`. */
export const aKey = (n: number, feeds: readonly string[], more: Partial<KeyRecord> = {}): KeyRecord => ({
  id: `key-${n}`,
  name: '',
  prefix: secretOf(n).slice(0, shownPrefixLength),
  secrets: [{ digest: digestOf(secretOf(n)).toString('hex') }],
  plan: 'pro',
  limits: { ...planLimits.pro, rpm: 1_000_000, rpd: 1_000_000 },
  feeds: feeds as KeyRecord['feeds'],
  allowIps: [],
  revoked: false,
  createdAt: utcMs(0),
  ...more,
})

export const aBar = (time: number, price = 1.5, volume = 1): Bar => ({
  time: feedSeconds(time),
  open: price,
  high: price,
  low: price,
  close: price,
  volume,
})

interface Range {
  readonly from: number
  readonly to: number
}

/** The fields of every answer at once: a test knows which of them its answer has. */
export interface AnyBody {
  readonly error: { readonly code: string; readonly message: string }
  readonly s: string
  readonly errmsg: string
  readonly t: readonly number[]
  readonly o: readonly number[]
  readonly h: readonly number[]
  readonly l: readonly number[]
  readonly c: readonly number[]
  readonly v: readonly number[]
  readonly meta: { readonly bar_count: number }
  readonly symbol: string
  readonly symbols: readonly { readonly symbol: string }[]
  readonly total: number
  readonly limit: number
  readonly coverage: readonly Range[] & Readonly<Record<string, readonly Range[]>>
  readonly status: string
  readonly feeds: Readonly<Record<string, object>>
  readonly exchanges: readonly object[]
  readonly today: object
  readonly history: readonly object[]
}

export interface Told {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly text: string
  readonly body: AnyBody
}

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly payload?: string
  /** The `n` of `secretOf`. */
  readonly key?: number
}

export interface RestEdge {
  readonly clock: VirtualClock
  readonly stores: Stores
  readonly port: number
  /** Every line that was logged. */
  readonly logged: string[]
  readonly openapi: object
  /** Every answer to GET is held against /openapi.json: status and body. */
  ask(target: string, asked?: Asked): Promise<Told>
  /** Puts records into the registry and waits until the edge sees them. */
  register(...records: (FeedDefinition | SymbolRecord | KeyRecord)[]): Promise<void>
  /** Stores bars of one series; each later call has greater revisions. */
  store(symbol: string, resolution: Resolution, bars: readonly Bar[]): Promise<void>
  metrics(): Promise<string>
  close(): Promise<void>
}

export interface RestEdgeOptions {
  readonly start?: number
  readonly trustedProxies?: readonly string[]
  /** `false`: the registry is not read at the start. */
  readonly loaded?: false
  /** Stands between the edge and its stores, to take one away. */
  readonly around?: (stores: Stores) => Stores
}

/** The REST edge over real embedded stores and real HTTP, on a virtual clock. */
export async function openRestEdge(options: RestEdgeOptions = {}): Promise<RestEdge> {
  const clock = createVirtualClock(options.start === undefined ? {} : { start: options.start })
  const folder = mkdtempSync(join(tmpdir(), 'fxd-rest-'))
  const opened = await openEmbeddedStores({ folder, clock, log: silentLog })
  const stores = options.around?.(opened) ?? opened
  const logged: string[] = []
  const log = createLog('debug', { write: (line: string) => void logged.push(line) })
  const registry = followRegistry(stores.registry, stores.bus, clock, log)
  if (options.loaded !== false) await registry.refresh()
  const tail = createTail(stores.bus)
  const metrics = createMetrics({ ofProcess: false })
  const { bars, windows, board } = stores
  const rest = await createRest({
    ...stores,
    registry,
    history: createHistory({ bars, tail, registry, board, clock }),
    coverage: createCoverage({ bars, windows, tail }),
    clock,
    log,
    metrics,
    trustedProxies: options.trustedProxies ?? [],
  })
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, variable: 'FXD_HTTP_ADDR', handle: rest.handler },
    clock,
  )
  const assertDescribed = describedBy(rest.openapi)
  let revision = 0

  return {
    clock,
    stores,
    port: server.port,
    logged,
    openapi: rest.openapi,
    async ask(target, asked = {}) {
      const told = await ask(server.port, target, asked)
      if ((asked.method ?? 'GET') === 'GET') assertDescribed(target, told)
      return told
    },
    async register(...records) {
      const rows = records.map(bodyOf)
      const outcome = await opened.registry.append(registry.view().version, rows)
      if (outcome.outcome !== 'stored') throw new Error('the registry moved on')
      await registry.refresh()
    },
    async store(symbol, resolution, list) {
      const parts = parseCompoundKey(symbol)
      if (!parts) throw new Error(`${symbol} is no compound key`)
      const series = { feed: parts.feed, symbol: symbol as CompoundKey, resolution }
      revision++
      await opened.bars.write(
        [{ series, bars: barsOf(list.map((bar) => ({ ...bar, revision }))) }],
        'backfill',
      )
    },
    metrics: async () => (await metrics.render()).text,
    async close() {
      await server.close(0)
      await rest.close()
      tail.close()
      registry.close()
      await opened.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function bodyOf(record: FeedDefinition | SymbolRecord | KeyRecord): RegistryBody {
  if ('secrets' in record) return { kind: 'key', id: record.id, body: record }
  if ('raw' in record) return { kind: 'symbol', id: record.symbol, body: record }
  return { kind: 'feed', id: record.key, body: { definition: record, hidden: false } }
}

function ask(
  port: number,
  target: string,
  { method = 'GET', headers = {}, payload, key }: Asked,
): Promise<Told> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path: target,
      method,
      agent: false,
      headers: { ...(key !== undefined && { 'X-API-Key': secretOf(key) }), ...headers },
    })
    request.on('error', reject)
    request.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('error', reject)
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const text = Buffer.concat(parts).toString()
        const isJson = text !== '' && response.headers['content-type']?.startsWith('application/json')
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
          text,
          body: (isJson ? JSON.parse(text) : {}) as AnyBody,
        })
      })
    })
    request.end(payload)
  })
}
