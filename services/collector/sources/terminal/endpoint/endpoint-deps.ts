import type { FeedKey } from '../../../../core/feeds/compound-key.ts'
import type { Address } from '../../../../platform/config.ts'
import type { WatchedTls } from '../../../../platform/credentials/tls.ts'
import type { Log } from '../../../../platform/log/log.ts'
import type { Metrics } from '../../../../platform/metrics.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { TerminalFeed } from '../terminal-feed.ts'

export interface TerminalEndpointDeps {
  readonly address: Address
  /** With a certificate; without it the endpoint speaks plain HTTP, see `isPlainAllowed`. */
  readonly tls?: WatchedTls | undefined
  /** Plain HTTP on an address that is not loopback. */
  readonly isPlainAllowed: boolean
  /** CIDR blocks of proxies whose X-Forwarded-For is trusted. Plain HTTP is accepted from them. */
  readonly trustedProxies: readonly string[]
  /** The feed of a token; `undefined` for an unknown one. */
  readonly feedOf: (token: string) => FeedKey | undefined
  /** `undefined` while this process does not collect the feed. */
  readonly terminalOf: (feed: FeedKey) => TerminalFeed | undefined
  /** Called when no connection could be accepted. */
  readonly acceptFailed: (cause: Error) => void
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

export interface TerminalEndpoint {
  readonly port: number
  /** Refuses further posts as NOT_TAKEN and lets those under way finish; after `graceMs` their connections are closed. */
  close(graceMs: number): Promise<void>
}
