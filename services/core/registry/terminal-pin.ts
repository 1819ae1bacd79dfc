import type { FeedKey } from '../feeds/compound-key.ts'

/** The terminal that a feed accepts. */
export interface TerminalPinRecord {
  readonly feed: FeedKey
  /** Company, server and digest of the account; absent: the next terminal is accepted. */
  readonly identity?: string | undefined
}

/** Differs from the id of the feed itself. */
export const terminalPinId = (feed: FeedKey): string => `${feed} terminal`
