// Original file: proto/fxd/v1/collector.proto

export const RefusalReason = {
  REFUSAL_REASON_UNSPECIFIED: 'REFUSAL_REASON_UNSPECIFIED',
  REFUSAL_REASON_UNKNOWN_SERIES: 'REFUSAL_REASON_UNKNOWN_SERIES',
  /**
   * The symbol has the name of another feed's symbol.
   */
  REFUSAL_REASON_FOREIGN_FEED: 'REFUSAL_REASON_FOREIGN_FEED',
  REFUSAL_REASON_OFF_GRID: 'REFUSAL_REASON_OFF_GRID',
  REFUSAL_REASON_IN_THE_FUTURE: 'REFUSAL_REASON_IN_THE_FUTURE',
  REFUSAL_REASON_NOT_CLOSED: 'REFUSAL_REASON_NOT_CLOSED',
  REFUSAL_REASON_BEFORE_1970: 'REFUSAL_REASON_BEFORE_1970',
  REFUSAL_REASON_PAST_RETENTION: 'REFUSAL_REASON_PAST_RETENTION',
  REFUSAL_REASON_OHLC_ORDER: 'REFUSAL_REASON_OHLC_ORDER',
  REFUSAL_REASON_PRICE: 'REFUSAL_REASON_PRICE',
  REFUSAL_REASON_VOLUME: 'REFUSAL_REASON_VOLUME',
  REFUSAL_REASON_SCALE: 'REFUSAL_REASON_SCALE',
  /**
   * The revision is no whole number, is less than 1, or is more than 5 s after ingest's time, for example because a
   * clock was set. The next Welcome has ingest's time: send these bars again in that session, with new revisions.
   */
  REFUSAL_REASON_REVISION: 'REFUSAL_REASON_REVISION',
  /**
   * Columns of different lengths, times that do not ascend, too many bars, or an invalid window.
   */
  REFUSAL_REASON_MALFORMED: 'REFUSAL_REASON_MALFORMED',
  /**
   * The sequence has a gap, was used with another body, or is older than the remembered ones. No Ack follows.
   */
  REFUSAL_REASON_SEQUENCE: 'REFUSAL_REASON_SEQUENCE',
  /**
   * Bars or a window arrived before the session's Catalogued. No Ack follows; the sequence stays unused.
   */
  REFUSAL_REASON_NOT_CATALOGUED: 'REFUSAL_REASON_NOT_CATALOGUED',
  /**
   * The window touches none of its series, and the series or its feed has the maximum of separate windows. Its Ack
   * follows; its bars stay stored, and coverage lacks its range.
   */
  REFUSAL_REASON_TOO_MANY_WINDOWS: 'REFUSAL_REASON_TOO_MANY_WINDOWS',
  /**
   * Before the date that the manifest names in `earliest`.
   */
  REFUSAL_REASON_BEFORE_EARLIEST: 'REFUSAL_REASON_BEFORE_EARLIEST',
} as const;

export type RefusalReason =
  | 'REFUSAL_REASON_UNSPECIFIED'
  | 0
  | 'REFUSAL_REASON_UNKNOWN_SERIES'
  | 1
  /**
   * The symbol has the name of another feed's symbol.
   */
  | 'REFUSAL_REASON_FOREIGN_FEED'
  | 2
  | 'REFUSAL_REASON_OFF_GRID'
  | 3
  | 'REFUSAL_REASON_IN_THE_FUTURE'
  | 4
  | 'REFUSAL_REASON_NOT_CLOSED'
  | 5
  | 'REFUSAL_REASON_BEFORE_1970'
  | 6
  | 'REFUSAL_REASON_PAST_RETENTION'
  | 7
  | 'REFUSAL_REASON_OHLC_ORDER'
  | 8
  | 'REFUSAL_REASON_PRICE'
  | 9
  | 'REFUSAL_REASON_VOLUME'
  | 10
  | 'REFUSAL_REASON_SCALE'
  | 11
  /**
   * The revision is no whole number, is less than 1, or is more than 5 s after ingest's time, for example because a
   * clock was set. The next Welcome has ingest's time: send these bars again in that session, with new revisions.
   */
  | 'REFUSAL_REASON_REVISION'
  | 12
  /**
   * Columns of different lengths, times that do not ascend, too many bars, or an invalid window.
   */
  | 'REFUSAL_REASON_MALFORMED'
  | 13
  /**
   * The sequence has a gap, was used with another body, or is older than the remembered ones. No Ack follows.
   */
  | 'REFUSAL_REASON_SEQUENCE'
  | 14
  /**
   * Bars or a window arrived before the session's Catalogued. No Ack follows; the sequence stays unused.
   */
  | 'REFUSAL_REASON_NOT_CATALOGUED'
  | 15
  /**
   * The window touches none of its series, and the series or its feed has the maximum of separate windows. Its Ack
   * follows; its bars stay stored, and coverage lacks its range.
   */
  | 'REFUSAL_REASON_TOO_MANY_WINDOWS'
  | 16
  /**
   * Before the date that the manifest names in `earliest`.
   */
  | 'REFUSAL_REASON_BEFORE_EARLIEST'
  | 17

export type RefusalReason__Output = typeof RefusalReason[keyof typeof RefusalReason]
