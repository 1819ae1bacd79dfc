import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FeedDefinition } from '../../services/core/feed.ts'
import { parseManifest } from '../../services/core/manifest.ts'
import { createIngest } from '../../services/ingest/server.ts'
import type { Secrets } from '../../services/platform/credentials/secrets.ts'
import type { WatchedTls } from '../../services/platform/credentials/tls.ts'
import { type Log, silentLog } from '../../services/platform/log/log.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import type { Delivered } from '../../services/ports/bus.ts'
import type { Clock } from '../../services/ports/clock.ts'
import type { Stores } from '../../services/ports/stores.ts'
import { applyFeeds } from '../../services/registry/apply-feeds.ts'
import { followRegistry } from '../../services/registry/follow.ts'
import { createRegistryWriter } from '../../services/registry/writer.ts'
import { openEmbeddedStores } from '../../services/stores/embedded/open.ts'

export const houseToken = 'the-administration-token-of-the-test'

/** A definition by its manifest's `spec`, with what every feed needs filled in. */
export function defineFeed(spec: Record<string, unknown>): FeedDefinition {
  const { broker = 'BROKERA', account = 'ZERO' } = spec as { broker?: string; account?: string }
  const parsed = parseManifest({
    apiVersion: 'marketdata.fxd.dev/v1alpha1',
    kind: 'Feed',
    metadata: { name: `${broker}-${account}`.toLowerCase() },
    spec: {
      broker,
      account,
      clock: { mode: 'UTC' },
      quoteBasis: 'Bid',
      resolutions: ['1', '5', '60', '1D'],
      symbols: { list: [] },
      source: { type: 'Push' },
      ...spec,
    },
  })
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults))
  return parsed.definition
}

export interface IngestFixture {
  readonly folder: string
  readonly clock: Clock
  readonly stores: Stores
  readonly port: number
  readonly address: string
  readonly registry: ReturnType<typeof followRegistry>
  readonly writer: ReturnType<typeof createRegistryWriter>
  readonly metrics: ReturnType<typeof createMetrics>
  /** Everything the bus delivered. */
  readonly events: Delivered[]
  /** Stops serving; the folder stays. A grace of 0 cuts every call off. */
  close(graceMs: number): Promise<void>
  /** Stops and removes the folder. */
  remove(): Promise<void>
}

/** Ingest over real gRPC on loopback and the embedded stores in a folder of its own. */
export async function startIngest(
  definitions: readonly FeedDefinition[],
  options: {
    clock?: Clock
    folder?: string
    port?: number
    tls?: WatchedTls | undefined
    tokens?: Secrets
    signingKeys?: Secrets
    /** In place of stores of its own in the folder; closed by whoever opened them. */
    stores?: Stores
    around?: (stores: Stores) => Stores
    log?: Log
  } = {},
): Promise<IngestFixture> {
  const {
    clock = systemClock,
    folder = mkdtempSync(join(tmpdir(), 'fxd-ingest-')),
    port: wanted = 0,
    log = silentLog,
  } = options
  const opened = options.stores ?? (await openEmbeddedStores({ folder, clock, log }))
  const stores = options.around?.(opened) ?? opened
  const events: Delivered[] = []
  const unfollow = stores.bus.follow({
    deliver: (delivered) => void events.push(delivered),
    lost: () => undefined,
  })
  const registry = followRegistry(stores.registry, stores.bus, clock, log)
  await registry.refresh()
  const writer = createRegistryWriter(stores.registry, registry, stores.bus)
  await applyFeeds(writer, definitions)
  const metrics = createMetrics({ ofProcess: false })
  const tokens = options.tokens ?? (() => [houseToken])
  const signingKeys = options.signingKeys ?? tokens
  const deps = { stores, registry, writer, tokens, signingKeys, tls: options.tls, clock, log, metrics }
  const ingest = createIngest(deps)
  const port = await ingest.listen('127.0.0.1', wanted)
  let closed: Promise<void> | undefined
  const close = (graceMs: number): Promise<void> => {
    closed ??= (async () => {
      await ingest.close(graceMs)
      unfollow()
      registry.close()
      if (!options.stores) await opened.close()
    })()
    return closed
  }
  return {
    folder,
    clock,
    stores,
    port,
    address: `127.0.0.1:${port}`,
    registry,
    writer,
    metrics,
    events,
    close,
    async remove() {
      await close(0)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
