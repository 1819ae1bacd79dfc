// Original file: proto/fxd/v1/collector.proto

export const SessionMode = {
  SESSION_MODE_UNSPECIFIED: 'SESSION_MODE_UNSPECIFIED',
  /**
   * Has the feed's lease, or is standby.
   */
  SESSION_MODE_LIVE: 'SESSION_MODE_LIVE',
  /**
   * Backfill lane and catalogue additions only, without lease and heartbeats. It may run parallel to the live session.
   */
  SESSION_MODE_IMPORT: 'SESSION_MODE_IMPORT',
} as const;

export type SessionMode =
  | 'SESSION_MODE_UNSPECIFIED'
  | 0
  /**
   * Has the feed's lease, or is standby.
   */
  | 'SESSION_MODE_LIVE'
  | 1
  /**
   * Backfill lane and catalogue additions only, without lease and heartbeats. It may run parallel to the live session.
   */
  | 'SESSION_MODE_IMPORT'
  | 2

export type SessionMode__Output = typeof SessionMode[keyof typeof SessionMode]
