import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'

/** What a credential allows. */
export interface Access {
  /** All of `fxd.v1.Registry`. */
  readonly mayAdminister: boolean
  /** The feeds it may push. */
  readonly feeds: 'all' | ReadonlySet<FeedKey>
  /** The first moment at which it is expired. */
  readonly until?: UtcMs | undefined
}

/** Of administration, which may push every feed too. */
export const administration: Access = { mayAdminister: true, feeds: 'all' }

export const mayPush = ({ feeds }: Access, feed: string): boolean =>
  feeds === 'all' || feeds.has(feed as FeedKey)

/** Why a call was refused before any service saw it; each is a label of the metric. */
export const credentialFaults = ['missing', 'unknown', 'expired', 'not_administration'] as const
export type CredentialFault = (typeof credentialFaults)[number]

/** A credential that opens nothing; the sentence says what is wanted and never what came. */
export interface CredentialRefusal {
  readonly fault: CredentialFault
  readonly message: string
}
