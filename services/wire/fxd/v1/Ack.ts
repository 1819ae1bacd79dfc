// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

export interface Ack {
  'sequence'?: (number | string | Long);
  'accepted'?: (number);
  'revised'?: (number);
  'unchanged'?: (number);
}

export interface Ack__Output {
  'sequence': (number);
  'accepted': (number);
  'revised': (number);
  'unchanged': (number);
}
