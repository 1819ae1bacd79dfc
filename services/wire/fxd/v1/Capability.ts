// Original file: proto/fxd/v1/collector.proto

export const Capability = {
  CAPABILITY_UNSPECIFIED: 'CAPABILITY_UNSPECIFIED',
  /**
   * The source can be read again after a crash, so live bars may be published before their commit.
   */
  CAPABILITY_REREADABLE: 'CAPABILITY_REREADABLE',
  /**
   * The source can answer Backfill requests.
   */
  CAPABILITY_BACKFILL: 'CAPABILITY_BACKFILL',
} as const;

export type Capability =
  | 'CAPABILITY_UNSPECIFIED'
  | 0
  /**
   * The source can be read again after a crash, so live bars may be published before their commit.
   */
  | 'CAPABILITY_REREADABLE'
  | 1
  /**
   * The source can answer Backfill requests.
   */
  | 'CAPABILITY_BACKFILL'
  | 2

export type Capability__Output = typeof Capability[keyof typeof Capability]
