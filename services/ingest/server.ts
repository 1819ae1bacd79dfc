import { Server } from '@grpc/grpc-js'
import { faultPlace } from '../core/fault-place.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { Secrets } from '../platform/credentials/secrets.ts'
import type { WatchedTls } from '../platform/credentials/tls.ts'
import type { Log } from '../platform/log/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Clock } from '../ports/clock.ts'
import type { Stores } from '../ports/stores.ts'
import type { FollowedRegistry } from '../registry/follow.ts'
import type { RegistryWriter } from '../registry/writer.ts'
import { ingestConnectionsMax, serverOptions } from '../wire/limits.ts'
import { type ConnectionCounts, defectStatus, type ListenAt, type Listening, listen } from '../wire/listen.ts'
import { Collector, Registry } from '../wire/load.ts'
import { serverCredentials } from '../wire/server-credentials.ts'
import { UnauthenticatedConnections } from '../wire/unauthenticated-connections.ts'
import { countCalls } from './count-calls.ts'
import { type Authorizer, createAuthorizer } from './credentials/authorize.ts'
import { createFeedTokens } from './credentials/feed-tokens.ts'
import { FeedStates } from './feed/feed-state.ts'
import { WriteDelay } from './feed/write-delay.ts'
import { keepClockHistory } from './jobs/clock-history.ts'
import { copyClosedDays } from './jobs/closed-days.ts'
import { exportFeedGauges } from './jobs/feed-gauges.ts'
import { freeHiddenNames } from './jobs/hidden-names.ts'
import { exportHistoryGauge } from './jobs/history-gauge.ts'
import { createIngestMetrics } from './metrics.ts'
import { registryService } from './registry/service.ts'
import { OpenSessions } from './session/open-sessions.ts'
import { CollectorSession, type SessionDeps } from './session/session.ts'
import type { CollectorCall } from './session/stream/collector-stream.ts'
import { receive } from './session/stream/receive.ts'
import { SessionEnd } from './session-end.ts'
import { wellFormedStatus } from './well-formed-status.ts'

export interface IngestDeps {
  readonly stores: Pick<
    Stores,
    'bars' | 'windows' | 'tables' | 'bus' | 'board' | 'leases' | 'limits' | 'slots' | 'usageDays' | 'identity'
  >
  readonly registry: FollowedRegistry
  readonly writer: RegistryWriter
  /** Tokens of administration. */
  readonly tokens: Secrets
  /** Keys that sign and verify the tokens of collectors. */
  readonly signingKeys: Secrets
  /** Without it calls are not encrypted. */
  readonly tls?: WatchedTls | undefined
  readonly connectionsMax?: number
  readonly connectionCounts?: ConnectionCounts
  readonly storeBegan?: () => Promise<void>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

export interface Ingest {
  /** Resolves with the port (a free one for port 0); rejects if it cannot listen on the address. */
  listen(host: string, port: number): Promise<number>
  /** Refuses further calls, acknowledges batches in flight and ends all sessions; cuts off the rest after `graceMs`. */
  close(graceMs: number): Promise<void>
}

const connectAgain = (why: string): SessionEnd => new SessionEnd('UNAVAILABLE', `${why}; connect again`)

/** The gRPC edge, and the only writer of bars. It serves collectors, and `fxd.v1.Registry` for administration. */
export function createIngest(deps: IngestDeps): Ingest {
  const { clock, log, stores } = deps
  const metrics = createIngestMetrics(deps.metrics)
  const feedTokens = createFeedTokens(deps.signingKeys, clock)
  const unauthenticated = new UnauthenticatedConnections()
  const authorizer = createAuthorizer({
    ...deps,
    feedTokens,
    passed: (path, peer) => {
      // A session may still be refused: one token must not hold all connections.
      if (path !== Collector.service.Session.path) unauthenticated.authenticated(peer)
    },
    refused: (fault) => metrics.refusedCall(fault),
  })
  const server = new Server({ ...serverOptions, interceptors: [wellFormedStatus, authorizer.interceptor] })
  const writeDelay = new WriteDelay(clock, stores.bus)
  const states = new FeedStates(stores, { ...deps, bus: stores.bus, metrics, writeDelay })
  const sessions = new OpenSessions(log, clock)
  const serve = createServe(authorizer, unauthenticated, { ...deps, metrics, states, sessions })
  server.addService(
    { Session: { ...Collector.service.Session, requestDeserialize: receive, responseSerialize: asIs } },
    { Session: serve },
  )
  const endFeed = async (feed: FeedKey): Promise<void> => {
    await sessions.endFeed(feed, new SessionEnd('FAILED_PRECONDITION', `${feed} is being purged`))
    await states.dropped(feed)
  }
  server.addService(Registry.service, registryService({ ...stores, ...deps, feedTokens, endFeed, states }))

  // Collectors send again what the next Known lacks, such as the bars of a refilled table.
  stores.tables?.onRepaired((feed) => {
    states.outdate(feed)
    void sessions.endFeed(feed, connectAgain(`a table of ${feed} is in order again`))
  })
  const stopFollowing = deps.registry.onChange((view, isOther) => {
    // What waits is dropped first: the end of a session waits for that. What is known of the store is of the one before.
    states.forget((feed) => isOther || view.feed(feed) === undefined)
    if (isOther) void sessions.endAll(connectAgain('the store was replaced'))
    sessions.endHidden(view)
    for (const feed of states.withdrawn(view))
      sessions.endLeader(feed, connectAgain(`windows of ${feed} were withdrawn`))
  })
  let listening: Listening | undefined
  let stopCounting = (): void => undefined
  const stopJobs = startJobs(deps, sessions, states)

  return {
    async listen(host, port) {
      listening = await listenFor(server, deps, { host, port, unauthenticated })
      stopCounting = countCalls(listening.port, (code) => metrics.call(code))
      return listening.port
    },
    async close(graceMs) {
      writeDelay.end()
      const left = listening?.close()
      stopFollowing()
      const copied = stopJobs()
      const inTime = new AbortController()
      const finished = sessions
        .endAll(new SessionEnd('UNAVAILABLE', 'ingest is stopping; connect again'), { isStopping: true })
        .then(() => Promise.all([copied, shutDown(server), left]))
        .catch((cause: unknown) =>
          log.warn({ err: cause }, 'ingest did not stop cleanly; open calls are cancelled'),
        )
      if (graceMs > 0) await Promise.race([finished, clock.sleep(graceMs, inTime.signal)])
      inTime.abort()
      server.forceShutdown()
      states.close()
      stopCounting()
    },
  }
}

/** Starts the work that needs no collector. Returns the function that stops it, which waits for a copy of usage in progress. */
function startJobs(deps: IngestDeps, sessions: OpenSessions, states: FeedStates): () => Promise<void> {
  const { stores, registry } = deps
  exportHistoryGauge({ ...deps, sessions, states })
  const copyDays = () => copyClosedDays({ ...stores, ...deps })
  // Without a registry no key is known.
  let stopCopying = registry.loaded ? copyDays() : undefined
  const stops = [
    registry.onChange(() => void (stopCopying ??= copyDays())),
    keepClockHistory(deps),
    freeHiddenNames({ ...stores, ...deps }),
    exportFeedGauges({ ...deps, board: stores.board, sessions, states }),
  ]
  return async () => {
    for (const stop of stops) stop()
    await stopCopying?.()
  }
}

/** A session encodes its answers itself. */
const asIs = (encoded: Buffer): Buffer => encoded

const listenFor = (
  server: Server,
  { tls, connectionsMax = ingestConnectionsMax, connectionCounts: counts }: IngestDeps,
  at: Pick<ListenAt, 'host' | 'port' | 'unauthenticated'>,
): Promise<Listening> =>
  listen(server, { ...at, credentials: serverCredentials(tls), connectionsMax, counts })

const shutDown = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.tryShutdown((cause) => (cause ? reject(cause) : resolve()))
  })

/** Starts a session for each permitted call; a defect at the start ends the call. */
function createServe(authorizer: Authorizer, unauthenticated: UnauthenticatedConnections, deps: SessionDeps) {
  const { sessions, clock, log } = deps
  const processId = clock.randomHex(8)
  let count = 0
  const begin = (call: CollectorCall): void => {
    const access = authorizer.accessOf(call.metadata)
    const refusal = sessions.refusalByAccess(access)
    if (refusal) {
      call.emit('error', refusal.status)
      return
    }
    unauthenticated.authenticated(call.getPeer())
    count += 1
    sessions.add(new CollectorSession(call, `${processId}-${count}`, access, deps))
  }
  return (call: CollectorCall): void => {
    try {
      begin(call)
    } catch (cause) {
      // The call metric counts the status.
      log.error(faultPlace(cause), 'starting a session failed; its call is rejected with INTERNAL')
      call.emit('error', defectStatus)
    }
  }
}
