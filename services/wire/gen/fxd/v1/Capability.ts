// Original file: proto/fxd/v1/collector.proto

export const Capability = {
  CAPABILITY_UNSPECIFIED: 'CAPABILITY_UNSPECIFIED',
  /**
   * Live bars come again after a crash (the source can be read again, or a spool holds them until their
   * Ack), so they may be published before their commit.
   */
  CAPABILITY_REREADABLE: 'CAPABILITY_REREADABLE',
} as const;

export type Capability =
  | 'CAPABILITY_UNSPECIFIED'
  | 0
  /**
   * Live bars come again after a crash (the source can be read again, or a spool holds them until their
   * Ack), so they may be published before their commit.
   */
  | 'CAPABILITY_REREADABLE'
  | 1

export type Capability__Output = typeof Capability[keyof typeof Capability]
