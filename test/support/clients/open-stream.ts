import { mkdtempSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { connect as connectSocket, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { digestOf } from '../../../services/access/authenticate.ts'
import { createHistory } from '../../../services/bars/history.ts'
import { createTail } from '../../../services/bars/tail.ts'
import { barsOf, type RevisedBar } from '../../../services/core/bars/bar.ts'
import { feedSeconds, utcMs } from '../../../services/core/clocks/feed-clock.ts'
import {
  type CompoundKey,
  compoundKey,
  type FeedKey,
  feedKey,
} from '../../../services/core/feeds/compound-key.ts'
import type { Resolution } from '../../../services/core/feeds/resolution.ts'
import type { KeyRecord } from '../../../services/core/keys/api-key.ts'
import { openHttpServer } from '../../../services/platform/http/http-server.ts'
import { createLog, type Log, silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import type { LiveBar } from '../../../services/ports/bus.ts'
import type { Clock } from '../../../services/ports/clock.ts'
import type { RegistryBody } from '../../../services/ports/registry.ts'
import type { Stores } from '../../../services/ports/stores.ts'
import { followRegistry } from '../../../services/registry/follow.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { createStream, streamPath } from '../../../services/stream/stream.ts'
import { StreamSocket } from '../../acceptance/client/socket.ts'
import { createVirtualClock } from '../fixtures/virtual-clock.ts'
import { definition, symbolRecord } from '../samples/samples.ts'

export const zero = feedKey('BROKERA', 'ZERO')
export const live = feedKey('BROKERB', 'LIVE')
/** A feed without minutes. */
export const tadil = feedKey('BROKERC', 'TADIL')

let keys = 0
/** A secret and the registry record of its key. */
export function sampleKey(change: Partial<KeyRecord> = {}): { secret: string; record: KeyRecord } {
  const secret = `fxd_${(++keys).toString(16).padStart(32, '0')}`
  const record: KeyRecord = {
    id: `key-${keys}`,
    name: '',
    prefix: secret.slice(0, 8),
    secrets: [{ digest: digestOf(secret).toString('hex') }],
    plan: 'pro',
    limits: { rpm: 600, rpd: 1_000, wsConnections: 10_000, wsSymbols: 500 },
    feeds: [zero, tadil],
    allowIps: [],
    revoked: false,
    createdAt: utcMs(0),
    ...change,
  }
  return { secret, record }
}

/** A bar whose numbers are all computed from the minute. */
export const minuteBar = (minute: number): RevisedBar => ({
  time: feedSeconds(1_767_600_000 + minute * 60),
  open: 1 + minute / 7,
  high: 3 + minute / 7,
  low: 0.5 + minute / 7,
  close: 2 + minute / 7,
  volume: minute,
  revision: 1,
})

export const feedBody = (key: FeedKey, resolutions?: readonly Resolution[]): RegistryBody => {
  const [broker = '', account = ''] = key.split(':')
  const body = definition({ key, broker, account, ...(resolutions && { resolutions }) })
  return { kind: 'feed', id: key, body: { definition: body, hidden: false } }
}

export const symbolBody = (feed: FeedKey, name: string, hidden = false): RegistryBody => {
  const symbol = compoundKey(feed, name)
  return { kind: 'symbol', id: symbol, body: symbolRecord({ symbol, feed, name, raw: name, hidden }) }
}

export const symbolNames = Array.from({ length: 40 }, (_, n) => `SYM${n}`)
const catalogue = (): RegistryBody[] => [
  feedBody(zero),
  feedBody(live),
  feedBody(tadil, ['60', '240', '1D', '1W', '1M']),
  ...[zero, live, tadil].flatMap((feed) => symbolNames.map((name) => symbolBody(feed, name))),
]

/** A clock whose `soon` a test can hold and release. */
function pausedTurns(clock: Clock) {
  let queued: (() => void)[] | undefined
  const soon = (run: () => void): void => {
    if (queued) queued.push(run)
    else clock.soon(run)
  }
  return {
    clock: { ...clock, soon },
    hold: () => void (queued ??= []),
    release() {
      for (const run of queued ?? []) clock.soon(run)
      queued = undefined
    },
  }
}

interface StreamOptions {
  /** Replaces some stores. */
  readonly change?: (stores: Stores) => Partial<Stores>
  readonly trustedProxies?: readonly string[]
  readonly connectionsMax?: number
  /** UTC milliseconds. */
  readonly start?: number
  readonly log?: Log
  /** Starts without a registry, like a process whose store is unavailable. */
  readonly unloaded?: boolean
}

/**
 * Opens the WebSocket edge on an HTTP server, with embedded stores and a virtual clock.
 */
export async function openStream(options: StreamOptions = {}) {
  const clock = createVirtualClock(options)
  const folder = mkdtempSync(join(tmpdir(), 'fxd-stream-'))
  const embedded = await openEmbeddedStores({ folder, clock, log: silentLog })
  const stores = { ...embedded, ...options.change?.(embedded) }
  const metrics = createMetrics({ ofProcess: false })
  const logged: string[] = []
  const registry = followRegistry(embedded.registry, stores.bus, clock, silentLog)
  const { trustedProxies = [], connectionsMax = 10_000 } = options
  const log = options.log ?? createLog('debug', { write: (line: string) => void logged.push(line) })
  const turns = pausedTurns(clock)
  const tail = createTail(stores.bus)
  const history = createHistory({ ...stores, tail, registry, clock })
  const stream = createStream({
    ...stores,
    history,
    clock: turns.clock,
    log,
    metrics,
    registry,
    trustedProxies,
    connectionsMax,
  })
  const upgrade = { path: streamPath, listener: stream.upgrade }
  const address = { host: '127.0.0.1', port: 0 }
  // In the service REST answers requests without an upgrade, and upgrades on other paths.
  const handle: RequestListener = (_request, response) => void response.writeHead(404).end()
  const server = await openHttpServer({ address, variable: 'FXD_HTTP_ADDR', handle, upgrade }, systemClock)
  const opened: { terminate(): void }[] = []

  const change = async (...rows: readonly RegistryBody[]): Promise<void> => {
    const version = registry.loaded ? registry.view().version : 0
    await embedded.registry.append(version, rows)
    await registry.refresh()
  }
  if (!options.unloaded) await change(...catalogue())

  return {
    clock,
    turns,
    stores,
    stream,
    registry,
    /** All lines that the edge logged. */
    logged,
    port: server.port,
    connections: () => server.connections(),
    change,
    hideSymbol: (feed: FeedKey, name: string) => change(symbolBody(feed, name, true)),

    /** Adds a new key to the registry. */
    async issue(with_: Partial<KeyRecord> = {}) {
      const { secret, record } = sampleKey(with_)
      await change({ kind: 'key', id: record.id, body: record })
      const update = (now: Partial<KeyRecord>) =>
        change({ kind: 'key', id: record.id, body: { ...record, ...now } })
      return { secret, record, update, inUse: () => stores.slots.inUse(record.id) }
    },

    /** Opens a socket. Rejects with the answer of the server if it is not 101. */
    connect(secret: string, headers: Record<string, string> = {}): Promise<StreamSocket> {
      const url = `ws://127.0.0.1:${server.port}/v1/stream?api_key=${secret}`
      const raw = new WebSocket(url, { headers, perMessageDeflate: false })
      opened.push(raw)
      const socket = new StreamSocket(raw)
      return new Promise((resolve, reject) => {
        raw.once('open', () => resolve(socket))
        raw.once('error', reject)
      })
    },

    /** Opens a TCP connection, for requests that no WebSocket client sends. */
    dial(): Promise<Socket> {
      const socket = connectSocket(server.port, '127.0.0.1')
      socket.on('error', () => undefined)
      opened.push({ terminate: () => void socket.destroy() })
      return new Promise((resolve) => void socket.once('connect', () => resolve(socket)))
    },

    /** Publishes one event with a bar of this minute for each symbol; resolves with its position. */
    async publish(symbols: readonly CompoundKey[], minute: number, feed: FeedKey = zero): Promise<number> {
      const bars = symbols.map((symbol): LiveBar => ({ symbol, resolution: '1', bar: minuteBar(minute) }))
      const outcome = await stores.bus.publish({ type: 'bars', feed, bars }, 1)
      return outcome.outcome === 'published' ? outcome.position : Number.NaN
    },

    store: (symbol: CompoundKey, minutes: readonly number[], feed: FeedKey = zero) =>
      stores.bars.write(
        [{ series: { feed, symbol, resolution: '1' }, bars: barsOf(minutes.map(minuteBar)) }],
        'live',
      ),

    metric: async (line: string): Promise<number> => {
      const { text } = await metrics.render()
      return Number(
        text
          .split('\n')
          .find((each) => each.startsWith(`${line} `))
          ?.split(' ')[1] ?? 0,
      )
    },

    async close() {
      for (const each of opened) each.terminate()
      stream.close()
      tail.close()
      await server.close(0)
      registry.close()
      await embedded.close()
      rmSync(folder, { recursive: true })
    },
  }
}

export type OpenedStream = Awaited<ReturnType<typeof openStream>>
