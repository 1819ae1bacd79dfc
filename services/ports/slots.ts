import type { Day } from '../core/keys/usage.ts'

export type SlotOutcome =
  | { readonly outcome: 'open'; readonly inUse: number }
  | { readonly outcome: 'full'; readonly inUse: number }

export interface Session {
  readonly keyId: string
  readonly sessionId: string
}

/**
 * WebSocket connection slots of a key, over all shards. A slot is a lease named by its session, so a
 * repeat is harmless. Contract (test/contract/suites/slots.ts):
 *  - open slots of a key never exceed the cap given with `open`, whatever the number of callers;
 *  - `open` adds 1 to `ws_connect` and 1 to `ws_session` of the UTC day when it succeeds, nothing else;
 *  - a slot not renewed for `slotLeaseMs` is free; `close` frees at once and may be repeated;
 *  - `renew` answers the ids of those sessions that hold no slot (any more), and takes none for them;
 *  - a session that lapsed and is still there opens again with the day it was last counted on
 *    (`countedOn`): that is no new connection, and a new session only of a later UTC day;
 *  - a session renewed or closed on a later UTC day adds 1 to that day's `ws_session`, once.
 */
export interface Slots {
  open(keyId: string, sessionId: string, cap: number, countedOn?: Day): Promise<SlotOutcome>
  renew(sessions: readonly Session[]): Promise<readonly string[]>
  close(keyId: string, sessionId: string): Promise<void>
  inUse(keyId: string): Promise<number>
}

export const slotLeaseMs = 60_000
export const slotRenewMs = 20_000
