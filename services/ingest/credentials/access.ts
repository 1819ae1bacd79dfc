import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'

export interface Access {
  /** True: all calls of `fxd.v1.Registry` are allowed. */
  readonly mayAdminister: boolean
  /** The feeds that the credential may push. */
  readonly feeds: 'all' | ReadonlySet<FeedKey>
  /** Time from which the credential is expired. */
  readonly until?: UtcMs | undefined
}

/** The access of administration, which may push every feed too. */
export const administration: Access = { mayAdminister: true, feeds: 'all' }

export const mayPush = ({ feeds }: Access, feed: string): boolean =>
  feeds === 'all' || feeds.has(feed as FeedKey)

/** Reasons for refusing a call before it reaches a service; each is a label of the metric. */
export type CredentialFault = 'missing' | 'unknown' | 'expired' | 'not_administration'

/** A refused credential. The message says what is wanted, and never quotes the credential. */
export interface CredentialRefusal {
  readonly fault: CredentialFault
  readonly message: string
}
