import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server, ServerCredentials, type ServiceError, status } from '@grpc/grpc-js'
import { authenticate } from '../../services/access/authenticate.ts'
import type { FeedDefinition } from '../../services/core/feed.ts'
import { parseManifest } from '../../services/core/manifest.ts'
import { createFeedTokens } from '../../services/ingest/credentials/feed-tokens.ts'
import { registryService } from '../../services/ingest/registry/service.ts'
import { silentLog } from '../../services/platform/log/log.ts'
import type { Clock } from '../../services/ports/clock.ts'
import type { Stores } from '../../services/ports/stores.ts'
import { applyFeeds } from '../../services/registry/apply-feeds.ts'
import { type FollowedRegistry, followRegistry } from '../../services/registry/follow.ts'
import { createRegistryWriter } from '../../services/registry/writer.ts'
import { openEmbeddedStores } from '../../services/stores/embedded/open.ts'
import type { CreateKeyRequest } from '../../services/wire/gen/fxd/v1/CreateKeyRequest.ts'
import { channelOptions } from '../../services/wire/limits.ts'
import { Registry } from '../../services/wire/load.ts'
import { type RegistryCall, type RequestOf, registryClient } from '../../services/wire/unary-client.ts'
import { createVirtualClock } from './virtual-clock.ts'

const definitionOf = (broker: string, account: string, symbols: readonly string[]): FeedDefinition => {
  const parsed = parseManifest({
    apiVersion: 'marketdata.fxd.dev/v1alpha1',
    kind: 'Feed',
    metadata: { name: `${broker}-${account}`.toLowerCase() },
    spec: {
      broker,
      account,
      clock: { mode: 'UTC' },
      quoteBasis: 'Bid',
      resolutions: ['1', '60'],
      symbols: { list: symbols.map((raw) => ({ raw, type: 'forex', digits: 5 })) },
      source: { type: 'Push' },
    },
  })
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults))
  return parsed.definition
}

/** The two feeds of the fixture. */
export const zero = definitionOf('BROKERA', 'ZERO', ['EURUSD', 'GBPUSD'])
export const live = definitionOf('BROKERB', 'LIVE', ['EURUSD'])

/** `fxd.v1.Registry` over real gRPC, without its token, for as long as `close` is not called. */
export async function serveRegistry(stores: Stores, registry: FollowedRegistry, clock: Clock) {
  const writer = createRegistryWriter(stores.registry, registry, stores.bus)
  const server = new Server(channelOptions)
  server.addService(
    Registry.service,
    registryService({
      ...stores,
      writer,
      registry,
      clock,
      log: silentLog,
      endFeed: () => Promise.resolve(),
      feedTokens: createFeedTokens(() => ['0123456789abcdef0123456789abcdef'], clock),
    }),
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  const client = registryClient(`127.0.0.1:${port}`, {})
  return {
    writer,
    call: client.call,
    close() {
      client.close()
      server.forceShutdown()
    },
  }
}

/** The service on stores of its own, embedded but for those given, and a virtual clock, with two feeds and no key. */
export async function openRegistryFixture(given: Partial<Stores> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-registry-'))
  const clock = createVirtualClock({ start: Date.UTC(2026, 10, 21, 12) })
  const embedded = await openEmbeddedStores({ folder, clock, log: silentLog })
  const stores = { ...embedded, ...given }
  const registry = followRegistry(stores.registry, stores.bus, clock, silentLog)
  await registry.refresh()
  const { writer, call, close } = await serveRegistry(stores, registry, clock)
  const restore = (): Promise<unknown> => applyFeeds(writer, [zero, live])
  await restore()

  return {
    folder,
    clock,
    stores,
    registry,
    writer,
    call,
    /** Gives both feeds back that a test took away. */
    restore,
    /** How a call is refused: its status and sentence. */
    async refusal<Name extends RegistryCall>(
      name: Name,
      request: RequestOf<Name>,
    ): Promise<[string, string]> {
      const error = await call(name, request).then(
        () => new Error(`${name} was accepted`),
        (cause: ServiceError) => cause,
      )
      return 'code' in error ? [status[error.code] ?? '', error.details] : ['OK', error.message]
    },
    async create(request: CreateKeyRequest = {}) {
      // No two keys of one millisecond: their order is that of their making.
      await clock.advance(1)
      return call('CreateKey', { plan: 'pro', feeds: [zero.key], ...request })
    },
    /** The id of the key that this secret opens now. */
    opens(secret: string): string | undefined {
      try {
        return authenticate({ credential: secret, address: '192.0.2.1' }, registry.view(), clock.utcMs()).id
      } catch {
        return undefined
      }
    },
    /** Ends everything but the folder, which another fixture may open. */
    async stop() {
      close()
      registry.close()
      await embedded.close()
    },
    discard: () => rmSync(folder, { recursive: true }),
  }
}

export type RegistryFixture = Awaited<ReturnType<typeof openRegistryFixture>>
