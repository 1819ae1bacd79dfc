/**
 * All codes with which this server closes a socket. After 4000 to 4499 and 1012 a client reconnects, with jitter.
 * After 4500 to 4999 it does not: a person must act first. Protocol faults keep the codes of RFC 6455.
 */
export const closings = {
  unsupportedData: { code: 1003, reason: 'only text messages are accepted' },
  flooding: { code: 1008, reason: 'too many messages for 60 s' },
  fault: { code: 1011, reason: 'the service failed' },
  draining: { code: 1012, reason: 'draining' },
  idle: { code: 4000, reason: 'idle' },
  tooSlow: { code: 4001, reason: 'too slow' },
  overCap: { code: 4002, reason: 'over the connection cap' },
  keyRevoked: { code: 4500, reason: 'key revoked' },
  keyExpired: { code: 4501, reason: 'key expired' },
  addressNotAllowed: { code: 4502, reason: 'address no longer allowed' },
} as const

export type Closing = (typeof closings)[keyof typeof closings]

/** Codes of RFC 6455 that a client or a protocol fault may cause. */
const ordinaryCodes = [1000, 1001, 1002, 1005, 1006, 1007, 1009]
const knownCodes = new Set<number>([...ordinaryCodes, ...Object.values(closings).map(({ code }) => code)])

/** The metric label of a code; codes that clients invented share one. */
export const closeLabel = (code: number): string => (knownCodes.has(code) ? String(code) : 'other')
