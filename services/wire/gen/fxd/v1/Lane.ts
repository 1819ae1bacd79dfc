// Original file: proto/fxd/v1/collector.proto

export const Lane = {
  LANE_UNSPECIFIED: 'LANE_UNSPECIFIED',
  LANE_LIVE: 'LANE_LIVE',
  LANE_BACKFILL: 'LANE_BACKFILL',
} as const;

export type Lane =
  | 'LANE_UNSPECIFIED'
  | 0
  | 'LANE_LIVE'
  | 1
  | 'LANE_BACKFILL'
  | 2

export type Lane__Output = typeof Lane[keyof typeof Lane]
