export type SlotOutcome =
  | { readonly outcome: 'open'; readonly inUse: number }
  | { readonly outcome: 'full'; readonly inUse: number }

/**
 * WebSocket connection slots of a key, over all shards. A slot is a lease named by its session, so a
 * repeat is harmless. Contract (test/contract/slots.ts):
 *  - open slots of a key never exceed the cap given with `open`, whatever the number of callers;
 *  - `open` adds 1 to `ws_connect` and 1 to `ws_session` of the UTC day when it succeeds, nothing else;
 *  - a slot not renewed for `slotLeaseMs` is free; `close` frees at once and may be repeated;
 *  - a session renewed on a later UTC day adds 1 to that day's `ws_session`, once.
 */
export interface Slots {
  open(keyId: string, sessionId: string, cap: number): Promise<SlotOutcome>
  renew(sessions: readonly { readonly keyId: string; readonly sessionId: string }[]): Promise<void>
  close(keyId: string, sessionId: string): Promise<void>
  inUse(keyId: string): Promise<number>
}

export const slotLeaseMs = 60_000
export const slotRenewMs = 20_000
