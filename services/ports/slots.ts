import type { Day } from '../core/keys/usage.ts'

export type SlotOutcome = { readonly outcome: 'open' | 'full'; readonly inUse: number }

export interface Session {
  readonly keyId: string
  readonly sessionId: string
}

/**
 * WebSocket connection slots of a key, over all shards. A slot is a lease named by its session, so a repeated
 * call is harmless. Contract (test/contract/suites/slots.ts):
 *  - open slots of a key never exceed the cap given with `open`, whatever the number of callers;
 *  - when it succeeds, `open` adds 1 to `ws_connect` and 1 to `ws_session` of the UTC day, nothing else;
 *  - a slot that is not renewed for `slotLeaseMs` is free; `close` frees it immediately and may be repeated;
 *  - `renew` returns the ids of sessions without a slot, such as an expired one, and opens no slot for them;
 *  - to open an expired slot again, the caller gives the day on which the session was last counted
 *    (`countedOn`). Then `ws_connect` does not increase, and `ws_session` increases only on a later UTC day;
 *  - a session renewed or closed on a later UTC day adds 1 to `ws_session` of that day, once.
 */
export interface Slots {
  open(keyId: string, sessionId: string, cap: number, countedOn?: Day): Promise<SlotOutcome>
  renew(sessions: readonly Session[]): Promise<readonly string[]>
  close(keyId: string, sessionId: string): Promise<void>
  inUse(keyId: string): Promise<number>
}

export const slotLeaseMs = 60_000
export const slotRenewMs = 20_000
