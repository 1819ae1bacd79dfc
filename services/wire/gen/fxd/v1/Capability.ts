// Original file: proto/fxd/v1/collector.proto

export const Capability = {
  CAPABILITY_UNSPECIFIED: 'CAPABILITY_UNSPECIFIED',
  /**
   * The collector can send live bars again after a crash: its source can be read again, or a spool keeps them until
   * their Ack. So ingest may publish them before their commit.
   */
  CAPABILITY_REREADABLE: 'CAPABILITY_REREADABLE',
} as const;

export type Capability =
  | 'CAPABILITY_UNSPECIFIED'
  | 0
  /**
   * The collector can send live bars again after a crash: its source can be read again, or a spool keeps them until
   * their Ack. So ingest may publish them before their commit.
   */
  | 'CAPABILITY_REREADABLE'
  | 1

export type Capability__Output = typeof Capability[keyof typeof Capability]
